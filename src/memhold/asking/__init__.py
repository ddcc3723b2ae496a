"""What models are asked and how their replies are read: the prompts, the demanded call, what an API says of itself."""

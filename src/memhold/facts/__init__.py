"""Facts and notes: what is told, which timeline it belongs to, what it ends, and what a person should settle."""

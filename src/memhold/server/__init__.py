"""One process, one port: who is let in, how much they may ask, and what is mounted behind the door."""

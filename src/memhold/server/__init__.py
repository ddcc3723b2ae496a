"""One port, from one process or several: who is let in, how much they may ask, and what is mounted behind the door."""

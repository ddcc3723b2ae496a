"""What nobody here wrote, met for real: Pythons, type checkers, clients, models; `make reality` runs it."""

"""A session's window becomes memory: cut it, ask for operations, check them, apply them in one transaction."""

"""Keys: when two attributes are one."""

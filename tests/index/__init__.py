"""The words index."""

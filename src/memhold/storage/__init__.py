"""Stores, each of which keeps what a transaction writes and knows nothing of another."""

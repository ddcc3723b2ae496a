"""Interfaces of other servers, served by our verbs: their clients keep working."""

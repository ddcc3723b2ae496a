"""Holdfast: durable memory for AI agents."""

"""Compaction: memories that say the same become one, and nothing that nobody superseded is lost. Pure decisions."""

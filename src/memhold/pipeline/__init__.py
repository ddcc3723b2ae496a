"""The pure stages between the journal and an answer."""

"""The command line: one command a verb, and the commands that look after a store."""

"""What happened to a memory: changes, undo, forgetting, retention, and whether what is derived still agrees."""

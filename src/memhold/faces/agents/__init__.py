"""How coding agents meet the memory beyond their tools: which project a folder belongs to, and their sessions."""

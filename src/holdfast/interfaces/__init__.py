"""How people and programs reach a store: the command line (servers and adapters stand beside it)."""

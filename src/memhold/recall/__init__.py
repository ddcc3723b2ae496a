"""From a question to hits: each signal ranks the scope, one fusion orders it, filters narrow it, reasons explain it."""

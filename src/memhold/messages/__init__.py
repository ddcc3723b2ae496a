"""One message and a valid window: what the providers' shapes allow, how tool calls and results are paired, fences."""

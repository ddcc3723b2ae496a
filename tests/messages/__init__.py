"""Messages and valid windows: limits, fences, tool pairs, and the providers' rules they are judged by."""

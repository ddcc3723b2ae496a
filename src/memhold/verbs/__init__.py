"""The verbs: each declared once, and done here over one open store."""

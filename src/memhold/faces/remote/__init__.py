"""The verbs of a store that a server keeps: the library over HTTP."""

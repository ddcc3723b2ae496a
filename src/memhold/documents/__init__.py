"""Documents by name: one current content a path, on the same revisions, changes and indexes as every memory."""

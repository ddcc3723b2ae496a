"""The Python face: opening a store, and the sync verbs over the async core."""

"""The MCP face: tools, resources and prompts over the verbs, for whoever the connection is."""

"""How programs reach the verbs: Python, HTTP and MCP. Each face follows the declarations of `verbs`."""

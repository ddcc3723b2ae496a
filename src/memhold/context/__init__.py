"""Context: from a session, memories and a new message to the list of messages that is sent."""

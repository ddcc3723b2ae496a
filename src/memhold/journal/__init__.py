"""The journal: messages are redacted, appended and acknowledged; where a window of them begins, ends and is kept."""

"""The words of a text: terms, normal forms, tokens."""

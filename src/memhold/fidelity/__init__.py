"""Whether a statement stands by the words that it quotes: what it says is found, not judged."""

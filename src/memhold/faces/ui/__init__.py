"""The page on which memory is seen and set right: HTML over the public verbs, for a person with a browser."""

"""The words of a text: index terms, languages, times that it names, how many tokens it costs."""

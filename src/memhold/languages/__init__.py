"""The words of each language, one file a language with the same headings, and what reads them."""

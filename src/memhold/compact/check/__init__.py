"""The check of a text that is to stand for several: its hard details are those of its sources. Pure.

Hard details decide, not words: figures with their units, names, code and paths, days and parts of the day, what is
denied, conditions, who did what. What a newer source replaced may go, and comes back only as what was. Order, joined
sentences, pronouns and synonyms are free: all content words of good merges stood in their sources in a quarter of the
cases, of bad ones in half of them (docs/decisions/0042-merges.md, with what each rule wins).
"""

"""What each sign of a proof weighs. Written by scripts/generate_grounding_weights.py."""

from typing import Final

__all__ = ["FACTS", "STATEMENTS"]

FACTS: Final = (
    -3.52,  # before any sign
    1.78,  # one line has every word
    0.39,  # share of the words that the nearest line has
    -0.69,  # share of the words that no line of the user's has
    0.48,  # a clause of the same subject has half of the words
    1.01,  # a clause of the same subject has every word
    0.36,  # more of it stands in clauses of its subject than of another
    1.20,  # the nearest clause has the same subject
    0.79,  # the nearest clause only names its subject
    1.94,  # the nearest clause is of a thing
    -1.44,  # share of the nearest clause that the claim does not tell
    -1.56,  # another number in the nearest clause
    -2.01,  # the nearest clause is supposed, and the claim is not
    -0.61,  # the nearest clause asks
    -2.08,  # the nearest clause says no, and the claim does not
    0.18,  # the nearest clause is the user's
    0.57,  # the value stands to the letter in a line of the user's
    1.23,  # share of the attribute in the nearest clause
    0.47,  # the nearest clause has the attribute in another form, or by another name
    1.34,  # its subject stands in the nearest line
    -0.10,  # its subject stands there behind all of it
    0.83,  # words that only another clause of the sentence has
    0.70,  # kin of whom the nearest sentence does not speak
    -0.62,  # somebody else's name in the nearest clause
)

STATEMENTS: Final = (
    -0.94,  # before any sign
    -0.76,  # one line has every word
    0.95,  # share of the words that the nearest line has
    -0.82,  # share of the words that no line of the user's has
    0.34,  # a clause of the same subject has half of the words
    0.98,  # a clause of the same subject has every word
    0.47,  # more of it stands in clauses of its subject than of another
    0.45,  # the nearest clause has the same subject
    0.70,  # the nearest clause only names its subject
    0.29,  # the nearest clause is of a thing
    -4.10,  # share of the nearest clause that the claim does not tell
    -2.86,  # another number in the nearest clause
    -1.26,  # the nearest clause is supposed, and the claim is not
    0.18,  # the nearest clause asks
    -2.68,  # the nearest clause says no, and the claim does not
    0.80,  # the nearest clause is the user's
    0.00,  # the value stands to the letter in a line of the user's
    0.00,  # share of the attribute in the nearest clause
    0.00,  # the nearest clause has the attribute in another form, or by another name
    0.31,  # its subject stands in the nearest line
    -1.07,  # its subject stands there behind all of it
    1.52,  # words that only another clause of the sentence has
    -1.18,  # kin of whom the nearest sentence does not speak
    -0.73,  # somebody else's name in the nearest clause
)

"""The frameworks' own tests, from the source distributions that they ship, with our adapter in place of their class.

`NAME.in` says what the tests need, `NAME.lock` pins it, `NAME.py FOLDER` runs them in an unpacked distribution,
prints how many pass, and exits with 0 where no others fail than those that it says are about something else.
"""

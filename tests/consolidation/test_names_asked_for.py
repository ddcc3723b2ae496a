"""Which attributes ask for a name: nobody infers one, so a line has to say it."""

import pytest

from memhold.consolidate.grounding.names import names_a_thing


@pytest.mark.parametrize(
    "attribute", ["dentist's name", "dentist", "name of the gym", "landlord", "Name des Zahnarztes", "nombre del banco"]
)
def test_what_is_kept_under_its_name_asks_for_one(attribute: str) -> None:
    assert names_a_thing(attribute)


@pytest.mark.parametrize("attribute", ["dentist appointment", "gym schedule", "diet", "bank balance"])
def test_what_is_said_of_it_does_not(attribute: str) -> None:
    assert not names_a_thing(attribute)

"""Languages are data: one file each, the same headings for all, and no word of any of them in the code."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import memhold.fidelity
from memhold.languages.tables import languages, phrases, speech, spoken
from memhold.text import change

TEN = {"de", "en", "es", "fr", "it", "ja", "ko", "pt", "ru", "zh"}
FREE = {("numbers", "more"), ("numbers", "scales"), ("calendar", "seasons"), ("calendar", "days")} | {
    ("clock", name) for name in ("named", "before", "after")
}
"""Headings whose keys are the words themselves."""


def headings(table: dict[str, object]) -> set[tuple[str, ...]]:
    found: set[tuple[str, ...]] = set()
    for room, content in table.items():
        found.add((room,))
        found |= {(room, name) for name in content} if isinstance(content, dict) else set()
    return found


def test_every_language_has_the_same_headings() -> None:
    wanted = headings(dict(languages()["en"]))
    assert set(languages()) >= TEN
    assert {code: headings(dict(table)) ^ wanted for code, table in languages().items()} == {
        code: set() for code in languages()
    }


def test_every_value_has_the_kind_of_its_heading() -> None:
    english = languages()["en"]
    wrong = [
        (code, room, name)
        for code, table in languages().items()
        for room, content in english.items()
        if isinstance(content, dict)
        for name, value in content.items()
        if type(table[room][name]) is not type(value)
        or ((room, name) in FREE and not all(isinstance(word, str) for word in table[room][name]))
    ]
    assert wrong == []
    assert {(len(one["calendar"]["months"]), len(one["calendar"]["weekdays"])) for one in languages().values()} == {
        (12, 7)
    }


def test_no_heading_is_unused() -> None:
    folders = [Path(memhold.fidelity.__file__).parent, Path(memhold.fidelity.__file__).parents[1] / "languages"]
    code = Path(change.__file__).read_text(encoding="utf-8")
    code += "".join(path.read_text(encoding="utf-8") for folder in folders for path in folder.glob("*.py"))
    named = {name for heading in headings(dict(languages()["en"])) for name in heading[-1:] if heading[0] != "units"}
    assert {name for name in named if not re.search(rf"[\"']{name}[\"']", code)} == set()


def test_the_code_names_no_word_of_a_language() -> None:
    """Every string of the room's code, beside the words of four letters and more of all files."""
    known = {
        word
        for table in languages().values()
        for room in ("numbers", "calendar", "says", "people", "words")
        for value in table[room].values()
        if isinstance(value, str | list | dict)
        for listed in ([value] if isinstance(value, str) else [*value])
        for word in phrases(listed)
        if len(word) > 3 or not word.isascii()
    }
    assert "yesterday" in known
    assert "übermorgen" in known
    wrong = []
    for path in Path(memhold.fidelity.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and not node.value.strip().count(" "):
                words = set(re.findall(r"[^\W\d_]+", re.sub(r"\?P<\w+>?|<<\w+>>", "", node.value))) & known
                # Names of fields, kinds and headings are English words.
                wrong += [(path.name, node.value)] if words and not node.value.isidentifier() else []
    assert wrong == []


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("the dentist moved me to next wednesday", "en"),
        ("ich fahre nicht mehr den Polo", "de"),
        ("mon mari ne veut pas de chien dans la maison", "fr"),
        ("la boda de mi prima es en Cuenca y yo leo un poema", "es"),
        ("non ho ancora deciso che cosa fare con la mia macchina", "it"),
        ("não sei onde é a casa da minha irmã", "pt"),
        ("мой брат живёт в Москве", "ru"),
        ("内日は会議がある", "ja"),
        ("客户会议改到后天", "zh"),
        ("내일 회의 있어요", "ko"),
    ],
)
def test_the_language_of_a_text(text: str, code: str) -> None:
    assert spoken(text)[0] == code


def test_what_no_file_knows_is_no_language() -> None:
    assert spoken("Ngày mai tôi gặp bác sĩ lúc") == () or "en" not in spoken("Ngày mai tôi gặp bác sĩ")
    assert speech(()).numbers == {}

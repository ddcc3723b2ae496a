"""Languages are data: one file each, the same headings for all, and no word of any of them in the code."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import memhold.fidelity
from memhold.languages.tables import languages, speech, spoken

TEN = {"de", "en", "es", "fr", "it", "ja", "ko", "pt", "ru", "zh"}
FREE = {("numbers", "more"), ("numbers", "scales"), ("calendar", "seasons"), ("calendar", "days")} | {
    ("clock", name) for name in ("named", "before", "after")
}
"""Headings whose keys are the words themselves."""


OWN = {"units", "questions", "keys", "standing"}
"""Rooms whose headings are names of the program's own: of units, concepts and lists of entries."""


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
    package = Path(memhold.fidelity.__file__).parents[1]
    code = "".join(path.read_text(encoding="utf-8") for path in package.rglob("*.py"))
    named = {name for heading in headings(dict(languages()["en"])) for name in heading[-1:] if heading[0] not in OWN}
    assert {name for name in named if not re.search(rf"[\"']{name}[\"']", code)} == set()


ROOMS = ("compact", "consolidate", "facts", "fidelity", "index", "recall", "text")
"""Whose code reads what people write."""
TEXT = re.compile(r"\\[AbBdDsSwWZnt]|\?[Pp][<=]\w+[>)]?|\\?[ux][0-9a-f]{4}|\{\{?\w*|<<\w+>>")
CALLS = {"compile", "split", "search", "match", "fullmatch", "finditer", "findall", "sub"}
SHOWN = {"consolidate/asking.py", "facts/keys/lexicon.py", "fidelity/dates.py"}
"""The prompt is written in English, with the weekdays of its lines; the others name headings of the files."""
LETTERS = re.compile(r"[^\W\d_]{2,}")
NAMES = frozenset(
    [
        "user",
        "assistant",
        "name",
        "number",
        "time",
        "times",
        "day",
        "days",
        "week",
        "month",
        "year",
        "colour",
        "money",
        "all",
        "no",
        "any",
        "is",
    ]
)
"""Words that are names of the program's own as well: of kinds, fields and writers."""


def known_words() -> frozenset[str]:
    """The words of grammar of all languages, and of the others than English, whose words name things in code, more."""
    wanted = [("words", "function"), ("people", "first"), ("people", "third")]
    further = [(room, name) for room in ("says", "change", "tense", "asks") for name in languages()["en"][room]]
    others = speech(tuple(code for code in languages() if code != "en"))
    every = speech(tuple(languages()))
    words = {word for room, name in wanted for word in every.words(room, name)}
    words |= {word for room, name in further for word in others.words(room, name)}
    return frozenset({*words, *every.months, *every.weekdays} - NAMES)


def written(node: ast.AST) -> list[str]:
    """The texts of an expression, but for the arguments of what is called in it."""
    if isinstance(node, ast.Constant):
        return [node.value] if isinstance(node.value, str) else []
    inside = [node.func] if isinstance(node, ast.Call) else ast.iter_child_nodes(node)
    return [text for one in inside for text in written(one)]


def words_in_code(tree: ast.Module, known: frozenset[str]) -> list[tuple[int, str]]:
    """The lines where code names words of a language: in a pattern, in a list, or in a script that is not Latin.

    Prose for people (docstrings, messages, prompts) is none: it stands alone, and is neither compiled nor compared.
    """
    prose = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    tests = [one for one in ast.walk(tree) if isinstance(one, ast.Call) and getattr(one.func, "attr", "") == "endswith"]
    endings = {id(one) for call in tests for one in call.args}
    found = []
    for node in ast.walk(tree):
        texts: list[str] = []
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") in CALLS:
            texts = [text for part in (node.func, *node.args) for text in written(part)]
        elif isinstance(node, ast.Set | ast.List | ast.Tuple) and id(node) not in endings:
            held = [one.value for one in node.elts if isinstance(one, ast.Constant) and isinstance(one.value, str)]
            texts = [one for one in held if one.isalpha()]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in prose:
            texts = [word for word in LETTERS.findall(node.value) if word >= "\u0370"]
        words = {word for text in texts for word in LETTERS.findall(TEXT.sub(" ", text.lower()))} & known
        if len(words) > 1 or any(not word.isascii() for word in words):
            found.append((node.lineno, ", ".join(sorted(words))))
    return found


def test_the_code_names_no_word_of_a_language() -> None:
    known = known_words()
    assert {"yesterday", "übermorgen", "nicht", "现在"} & known
    package = Path(memhold.fidelity.__file__).parents[1]
    wrong = [
        (path.relative_to(package).as_posix(), *found)
        for room in ROOMS
        for path in sorted((package / room).rglob("*.py"))
        for found in words_in_code(ast.parse(path.read_text(encoding="utf-8")), known)
        if path.relative_to(package).as_posix() not in SHOWN
    ]
    assert wrong == []


@pytest.mark.parametrize(
    "code",
    [
        're.compile(r"\\b(?:before|avant)\\b")',
        'WORDS = frozenset({"not", "never", "kein"})',
        'WORDS = "jetzt nun heute".split()',
        'if word in {"le", "la"}: pass',
        'NOW = "现在"',
    ],
)
def test_a_word_in_code_is_seen(code: str) -> None:
    assert words_in_code(ast.parse(code), known_words())


def test_prose_and_names_are_no_words_of_a_language() -> None:
    code = 'def f():\n    """Not what it was before."""\n    raise ValueError("it was not what you said")\nKINDS = ("user", "time")'
    assert words_in_code(ast.parse(code), known_words()) == []


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

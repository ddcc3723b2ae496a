"""The TypeScript client agrees with what it is a client of; `reality/test_typescript.py` compiles and runs it.

That what is generated of it is current is tried in `test_packaging.py`.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from memhold._version import __version__
from tests.documents import ROOT, links

CLIENT = ROOT / "clients" / "typescript"
SOURCES = sorted((CLIENT / "src").rglob("*.ts"))
PACKAGE = json.loads((CLIENT / "package.json").read_text("utf-8"))
OUTSIDE = {"mastra.ts": {"@mastra/core"}}
"""What a module may import from elsewhere: of a framework that it is for. The client itself takes nothing."""


def test_each_operation_is_a_verb_or_is_tried_by_its_id() -> None:
    said = "".join((CLIENT / place).read_text("utf-8") for place in ("src/client.ts", "test/run/journey.mjs"))
    table = (CLIENT / "src" / "generated" / "api.ts").read_text("utf-8").partition("export const OPERATIONS")[2]
    operations = re.findall(r"^  (\w+): \{", table.partition("} as const")[0], re.MULTILINE)
    assert len(operations) > 50
    assert [one for one in operations if f'"{one}"' not in said and f"OPERATIONS.{one}" not in said] == []


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_a_module_takes_nothing_from_a_runtime_or_another_package(path: Path) -> None:
    text = path.read_text("utf-8")
    taken = re.findall(r"""(?:from|import\()\s*["']([^"']+)["']""", text)
    packages = {name if not name.startswith("@") else "/".join(name.split("/")[:2]) for name in taken if name[0] != "."}
    assert packages <= OUTSIDE.get(path.name, set())
    assert all(name.endswith(".js") for name in taken if name.startswith("."))
    assert not re.search(r"\b(Buffer|require|__dirname|setImmediate|Deno)\b", text)


def test_the_package_is_of_this_release_and_under_its_licence() -> None:
    assert PACKAGE["version"] == __version__
    assert "dependencies" not in PACKAGE
    assert (CLIENT / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()
    assert links(CLIENT / "README.md") == []


def test_it_is_built_with_what_it_is_tried_with() -> None:
    tried = json.loads((ROOT / "reality" / "typescript" / "package.json").read_text("utf-8"))["dependencies"]
    assert PACKAGE["devDependencies"].items() <= tried.items()

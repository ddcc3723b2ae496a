"""A verb is one declaration, one unit of work and its row in the table: added to a copy of the package, it is there on every face."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]

DECLARED = '''
    @verb(
        "read",
        http=Http(method="POST", path="/loudest", tag="recall", examples={"one": {"word": "tea"}}),
        tool=Tool(name="loudest", title="Loudest", use="Find the loudest message with a word.", shows=("word", "limit")),
        command=Command(
            name="loudest", section=MEMORY, line="Find the loudest message.", words=("word",), example="memhold loudest tea"
        ),
    )
    async def loudest(self, word: str, *, limit: int = 3) -> tuple[str, ...]:
        """The messages that say a word in capitals.

        Args:
            word: The word.
            limit: Most messages.
        """
        ...
'''
DONE = """

def loudest(tx: ReadTx, word: str, *, limit: int) -> tuple[str, ...]:
    found = tx.messages(tx.scope.session or "", after=0, limit=100)
    return tuple(one.text for one in found if word.upper() in one.text)[:limit]
"""
ROW = '    "loudest": Unit(module="memhold.verbs.journal_verbs", name="loudest", reads=True),\n'

SCRIPT = """
import asyncio, json, subprocess, sys
from memhold import AsyncMemhold, Memhold
from memhold.cli.main import main
from memhold.verbs.declaration import verbs_of
from memhold.verbs.scope import AsyncScope
from tests.reference import declarations
from tests.rest.serving import live

SAID = [{"role": "user", "content": "I like TEA very much"}, {"role": "user", "content": "I like tea"}]
found = {}
with Memhold.open("memory.db", worker=False) as mem:
    alice = mem.scope(user="alice")
    alice.add(SAID)
    found["sync"] = alice.loudest("tea")

async def others():
    async with live() as server:
        mem = await server.opened(user="alice")
        alice = mem.scope(user="alice")
        await alice.add(SAID)
        found["remote"] = await alice.loudest("tea")
        async with server.client(await server.token(user="alice")) as http:
            found["rest"] = tuple((await http.post("/v1/loudest", json={"word": "tea"})).json())
            found["openapi"] = (await http.get("/openapi.json")).json()["paths"]["/v1/loudest"]["post"]["operationId"]
            found["unknown"] = (await http.post("/v1/loudest", json={"word": "tea", "loud": 1})).json()["detail"]

asyncio.run(others())
from memhold.faces.mcp.tools import TOOLS
found["tool"] = TOOLS["loudest"].tool.name
found["reference"] = "loudest" in declarations()
print(json.dumps(found))
"""


def test_a_verb_that_is_declared_once_is_on_every_face(tmp_path: Path) -> None:
    shutil.copytree(
        ROOT / "src" / "memhold", tmp_path / "src" / "memhold", ignore=shutil.ignore_patterns("__pycache__")
    )
    shutil.copytree(ROOT / "scripts", tmp_path / "scripts")
    declared = tmp_path / "src" / "memhold" / "verbs" / "scope.py"
    declared.write_text(declared.read_text(encoding="utf-8") + DECLARED, encoding="utf-8")
    journal = declared.with_name("journal_verbs.py")
    journal.write_text(journal.read_text(encoding="utf-8") + DONE, encoding="utf-8")
    table = declared.with_name("local_scope.py")
    before, status, after = table.read_text(encoding="utf-8").partition('    "status": ')
    table.write_text(before + ROW + status + after, encoding="utf-8")

    env = {**os.environ, "PYTHONPATH": f"{tmp_path / 'src'}:{ROOT}"}
    subprocess.run([sys.executable, "scripts/generate_sync.py"], cwd=tmp_path, env=env, check=True)
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], cwd=tmp_path, env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    loud = '["I like TEA very much"]'
    assert f'"sync": {loud}, "remote": {loud}, "rest": {loud}' in done.stdout
    assert '"openapi": "loudest"' in done.stdout
    assert "known are: word, limit" in done.stdout
    assert '"tool": "loudest", "reference": true' in done.stdout

    command = [sys.executable, "-m", "memhold", "loudest", "tea", "--user", "alice", "--db", "memory.db", "--json"]
    shown = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    assert "I like TEA very much" in shown.stdout, shown.stderr
    listed = subprocess.run(
        [sys.executable, "-m", "memhold", "--help"], cwd=tmp_path, env=env, capture_output=True, text=True, check=True
    )
    assert "Find the loudest message." in listed.stdout

"""The guide's web application in Node.js, run as it stands there, in front of a real server."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import httpx2
import pytest

from memhold import Memhold
from reality.outside import node_tools
from tests.documents import ROOT, blocks

pytestmark = pytest.mark.bound(300)


def test_the_guides_node_application_keeps_users_apart(tmp_path: Path) -> None:
    node = node_tools().program
    [script] = [one.text for one in blocks(ROOT / "docs" / "how-to" / "web-app.md") if one.language == "js"]
    (tmp_path / "app.mjs").write_text(script, encoding="utf-8")
    with Memhold.open(tmp_path / "memory.db", worker=False) as mem:
        token = mem.admin.tokens.create(rights=["read", "write", "act"], label="webapp").secret
    serve = [sys.executable, "-m", "memhold", "serve", "--db", str(tmp_path / "memory.db"), "--port", "0", "--json"]
    server = subprocess.Popen(serve, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    app = None
    try:
        assert server.stdout is not None
        url = json.loads(server.stdout.readline())["url"]
        environment = {**os.environ, "MEMHOLD_URL": url, "MEMHOLD_TOKEN": token, "PORT": "0"}
        app = subprocess.Popen(
            [str(node), str(tmp_path / "app.mjs")], env=environment, stdout=subprocess.PIPE, text=True, cwd=tmp_path
        )
        assert app.stdout is not None
        base = f"http://127.0.0.1:{int(app.stdout.readline())}"
        with httpx2.Client(base_url=base, trust_env=False) as browser:

            def say(cookie: str, text: str) -> httpx2.Response:
                return browser.post("/", json={"text": text}, headers={"x-session": cookie})

            assert say("cookie-of-zoe", "My brother lives in Oslo.").status_code == 200
            answer = say("cookie-of-alice", "My sister lives in Porto.").json()
            assert answer["remembered"] == ["My sister lives in Porto."]
            assert say("made up", "hello").status_code == 401
        with Memhold.open(url, token=token) as mem:
            texts = [message.text for message in mem.scope(user="zoë", session="web").messages()]
        assert texts[0] == "My brother lives in Oslo."
    finally:
        for process in (app, server):
            if process is not None:
                process.terminate()
                process.communicate(timeout=30)

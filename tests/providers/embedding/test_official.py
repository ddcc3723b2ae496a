"""Published embeddings by name: their files come once, from anywhere, and only as they were published.

The hub itself was not tried here: what stands for it is a server on loopback with a small model.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from memhold import AsyncMemhold
from memhold.cli.main import cli
from memhold.errors import InvalidInput, InvalidSetting, ModelError
from memhold.providers.embedding.directory import DirectoryEmbedding
from memhold.providers.embedding.fetching import fetched
from memhold.providers.embedding.official import OFFICIAL, Official, PinnedFile
from memhold.wiring import models as wired
from memhold.wiring.places import models_folder
from tests.providers.embedding.test_directory import small  # noqa: F401 - a fixture
from tests.scripted_server import Answer, Asked, ScriptedServer

FILES = ("model.safetensors", "vocab.txt")


class Hub(ScriptedServer):
    """Has a model's files; `answer` changes what it sends: other bytes, a status, None for less than was promised."""

    def __init__(self, folder: Path) -> None:
        self.asked: list[str] = []
        self.answer: Callable[[bytes], bytes | int | None] = lambda content: content
        self._folder = folder
        super().__init__(self._sent)
        self.home = f"{self.url}/small/resolve/main/"

    def _sent(self, asked: Asked) -> Answer:
        name = asked.path.rpartition("/")[2]
        self.asked.append(name)
        content = self.answer((self._folder / name).read_bytes())
        if content is None:
            return Answer(body=b"short", missing=999_995)
        return Answer(status=content) if isinstance(content, int) else Answer(body=content)


@pytest.fixture
def hub(small: Path) -> Iterator[Hub]:  # noqa: F811
    with Hub(small) as one:
        yield one


@pytest.fixture
def model(small: Path, hub: Hub) -> Official:  # noqa: F811
    def pinned(name: str) -> PinnedFile:
        content = (small / name).read_bytes()
        return PinnedFile(name=name, size=len(content), sha256=hashlib.sha256(content).hexdigest())

    recipe = {name: json.loads((small / name).read_text()) for name in ("config.json", "1_Pooling/config.json")}
    return Official(
        name="minilm",
        label="a small one",
        licence="none",
        home=hub.home,
        files=tuple(map(pinned, FILES)),
        recipe={**recipe, "modules.json": json.loads((small / "modules.json").read_text())},
    )


@pytest.fixture
def named(model: Official, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """`minilm` is the small model; its folder."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setattr(wired, "OFFICIAL", {"minilm": model})
    return models_folder() / "minilm"


def test_what_is_fetched_is_the_model_and_is_fetched_once(
    model: Official,
    hub: Hub,
    tmp_path: Path,
    small: Path,  # noqa: F811
) -> None:
    told: list[tuple[str, int, int]] = []
    folder = fetched(model, tmp_path / "here", told=lambda *one: told.append(one))
    assert DirectoryEmbedding(folder).fingerprint == DirectoryEmbedding(small).fingerprint
    assert [one[0] for one in told if one[1] == one[2]] == list(FILES)
    assert fetched(model, folder) == folder
    assert hub.asked == list(FILES)
    assert {path.name for path in folder.iterdir()} == {*FILES, "config.json", "1_Pooling", "modules.json"}


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (lambda content: content[:-1], "is not the published one"),
        (lambda content: content + b"x", "is not the published one"),
        (lambda content: content[:-1] + b"x", "is not the published one"),
        (lambda _: 404, "it answers 404"),
        (lambda _: 503, "it answers 503"),
        (lambda _: None, "cannot be fetched"),
    ],
    ids=["cut", "longer", "changed", "not there", "busy", "broken off"],
)
def test_what_is_not_the_published_file_is_not_kept(
    model: Official, hub: Hub, tmp_path: Path, answer, why: str
) -> None:
    hub.answer = answer
    with pytest.raises(ModelError, match=why) as caught:
        fetched(model, tmp_path / "here")
    assert all(one.sha256 in str(caught.value) for one in model.files), "what to copy"
    assert str(tmp_path / "here") in str(caught.value), "where to"
    assert list((tmp_path / "here").iterdir()) == []
    hub.answer = lambda content: content
    assert DirectoryEmbedding(fetched(model, tmp_path / "here"))


def test_a_server_that_sends_without_end_is_left_at_the_published_size(
    model: Official, hub: Hub, tmp_path: Path
) -> None:
    hub.answer = lambda content: content + bytes(50_000_000)
    sizes: list[int] = []
    with pytest.raises(ModelError):
        fetched(model, tmp_path / "here", told=lambda _, size, __: sizes.append(size))
    assert all(size <= model.files[0].size for size in sizes)


def test_files_that_were_copied_by_hand_are_held_against_their_hashes(
    model: Official,
    hub: Hub,
    tmp_path: Path,
    small: Path,  # noqa: F811
) -> None:
    nowhere = replace(model, home="http://127.0.0.1:9/")
    folder = tmp_path / "here"
    folder.mkdir()
    for name in FILES:
        (folder / name).write_bytes((small / name).read_bytes())
    assert DirectoryEmbedding(fetched(nowhere, folder))
    assert hub.asked == []
    other = tmp_path / "other"
    other.mkdir()
    (other / FILES[0]).write_bytes(bytes(model.files[0].size))
    (other / FILES[1]).write_bytes((small / FILES[1]).read_bytes())
    with pytest.raises(ModelError, match=r"127\.0\.0\.1:9"):
        fetched(nowhere, other)
    assert DirectoryEmbedding(fetched(nowhere, other, source=str(small)))
    assert hub.asked == []


@pytest.mark.parametrize("source", ["/not/there", "ftp://127.0.0.1/x", "file:///etc"])
def test_a_source_that_is_none_is_refused(model: Official, tmp_path: Path, source: str) -> None:
    with pytest.raises(InvalidInput, match="neither a folder nor an http URL"):
        fetched(model, tmp_path / "here", source=source)


def test_many_at_once_fetch_it_once(model: Official, hub: Hub, tmp_path: Path) -> None:
    threads = [threading.Thread(target=fetched, args=(model, tmp_path / "here")) for _ in range(6)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert sorted(hub.asked) == sorted(FILES)


@pytest.mark.asyncio
async def test_a_name_is_all_that_an_embedding_needs(named: Path, hub: Hub, tmp_path: Path) -> None:
    async with AsyncMemhold.open(tmp_path / "m.db", worker=False, embedding="minilm") as memhold:
        assert hub.asked == [], "nothing is fetched before it is needed"
        scope = memhold.scope(user="alice", session="s")
        await scope.add([{"role": "user", "content": "the cat sat"}, {"role": "user", "content": "playing, the cats"}])
        assert await memhold.settle()
        found = await scope.recall("cats")
        assert found.degraded == ()
        assert {"meaning", "sentence"} <= {one.signal for hit in found.hits for one in hit.why}
    assert hub.asked == list(FILES)
    assert (named / "modules.json").is_file()


@pytest.mark.asyncio
@pytest.mark.usefixtures("named")
async def test_where_it_cannot_be_had_words_answer_and_meaning_is_named(hub: Hub, tmp_path: Path) -> None:
    hub.answer = lambda _: 404
    async with AsyncMemhold.open(tmp_path / "m.db", worker=False, embedding="minilm") as memhold:
        scope = memhold.scope(user="alice", session="s")
        await scope.add([{"role": "user", "content": "the cat sat"}])
        found = await scope.recall("cat")
        assert found.degraded == ("meaning",)
        assert [hit.text for hit in found.hits] == ["the cat sat"]
        hub.answer = lambda content: content
        assert await memhold.settle()
        assert (await scope.recall("cat")).degraded == ()


@pytest.mark.asyncio
async def test_an_unknown_name_says_which_there_are(tmp_path: Path) -> None:
    with pytest.raises(InvalidSetting, match="minilm"):
        async with AsyncMemhold.open(tmp_path / "m.db", worker=False, embedding="bge"):
            pass


def test_the_command_lists_and_fetches(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    model: Official,
    hub: Hub,
    small: Path,  # noqa: F811
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setitem(OFFICIAL, "minilm", model)  # type: ignore[arg-type]
    run = CliRunner()
    listed = json.loads(run.invoke(cli, ["models", "get", "--json"]).stdout)["embeddings"]
    assert [one["name"] for one in listed] == ["minilm", "mpnet", "nomic"]
    assert (listed[0]["licence"], listed[0]["there"]) == ("none", False)
    got = run.invoke(cli, ["models", "get", "minilm", "--from", str(small)])
    assert got.exit_code == 0, got.output
    assert str(models_folder() / "minilm") in got.stdout
    assert "none, from" in got.stderr, "its licence is said"
    assert hub.asked == []
    listed = json.loads(run.invoke(cli, ["models", "get", "--json"]).stdout)["embeddings"]
    assert [one["there"] for one in listed] == [True, False, False]
    assert run.invoke(cli, ["models", "get", "bge"]).exit_code != 0


def test_what_is_offered_is_pinned_to_bytes() -> None:
    for name, one in OFFICIAL.items():
        assert one.name == name
        assert one.home.startswith("https://")
        assert one.licence
        assert all(len(file.sha256) == 64 and file.size > 0 for file in one.files)
        assert list(one.recipe)[-1] == "modules.json", "it says that all is there, so it comes last"

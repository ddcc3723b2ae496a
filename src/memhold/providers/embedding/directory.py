"""Embeddings from a model directory on this machine, in the layout of sentence-transformers. No torch, no network."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from memhold.providers.embedding.batching import Limits, Overlong, plan
from memhold.providers.embedding.bert import read_bert
from memhold.providers.embedding.nomic import read_nomic
from memhold.providers.embedding.wordpiece import WordPiece, read_wordpiece
from memhold.providers.entry import prefixes_of
from memhold.values.errors import InvalidInput

__all__ = ["DirectoryEmbedding", "Engine"]

Engine = Literal["auto", "numpy", "onnx"]
_Forward = Callable[[NDArray[np.int64], NDArray[np.bool_]], NDArray[np.float32]]

_log = logging.getLogger("memhold.providers.embedding")
_TOKENS_A_BATCH = 8_192
_MOST_WINDOWS = 32
_WEIGHTS = ("model.safetensors", "onnx/model.onnx", "model.onnx")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Recipe:
    """What `modules.json` and its configs say: how tokens become one vector."""

    transformer: Path
    pooling: Literal["mean", "cls"]
    longest: int
    kind: str
    """Its architecture, as its config names it."""


class DirectoryEmbedding:
    """A sentence encoder of the kind of BERT, MPNet or Nomic's, read from a directory; it is an `EmbeddingModel`.

    The weights are read when it is made, and a call runs on a thread of its own. With `engine="auto"` an ONNX file
    is used where there is one and onnxruntime is installed (the extra `onnx`), else `model.safetensors` in NumPy. A
    text over the model's window is truncated, as its authors do, or split: the mean of its windows, weighted by their
    tokens. `overlong` counts such texts. Marks such as `[CLS]` in a text are text. A prefix that is None is what the
    directory's name tells ("e5-small-v2").

    Raises:
        InvalidInput: not such a directory, another architecture, or damaged weights.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        engine: Engine = "auto",
        overlong: Overlong = "truncate",
        query_prefix: str | None = None,
        document_prefix: str | None = None,
    ) -> None:
        folder = Path(path)
        named = prefixes_of(folder.name)
        query = named[0] if query_prefix is None else query_prefix
        document = named[1] if document_prefix is None else document_prefix
        recipe = _read_recipe(folder)
        self._recipe = recipe
        self._overlong = overlong
        self._prefixes = {"query": query, "document": document}
        weights, self._forward, self._width, self._tokenizer = _read_engine(recipe, engine)
        self._longest = recipe.longest
        settings = repr((recipe.pooling, recipe.longest, overlong, query, document))
        digest = sha256(settings.encode() + _digest(weights)).hexdigest()
        self._fingerprint = f"directory:{digest[:16]}"
        self._turn = asyncio.Lock()
        self.overlong = 0

    @property
    def fingerprint(self) -> str:
        """Which generation its vectors belong to: a digest of the weights and every setting that changes a vector."""
        return self._fingerprint

    @property
    def dimension(self) -> int:
        """The length of its vectors."""
        return self._width

    async def embed(self, texts: Sequence[str], *, purpose: Literal["document", "query"]) -> NDArray[np.float32]:
        """Unit vectors, shape (len(texts), dimension), row i for text i.

        Raises:
            InvalidInput: an input is None, empty or blank.
        """
        plan(texts, Limits())
        prefix = self._prefixes[purpose]
        async with self._turn:
            return await asyncio.to_thread(self.vectors, [prefix + text for text in texts])

    def vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The same, on the calling thread and without prefixes."""
        if not texts:
            return np.zeros((0, self._width), dtype=np.float32)
        windows = [(index, window) for index, text in enumerate(texts) for window in self._windows(text)]
        total = np.zeros((len(texts), self._width), dtype=np.float32)
        for batch in _by_length(windows):
            pooled = self._pooled([window for _, window in batch])
            weights = np.array([len(window) for _, window in batch], dtype=np.float32)[:, None]
            np.add.at(total, [index for index, _ in batch], pooled * weights)
        norms = np.linalg.norm(total, axis=1, keepdims=True)
        return np.asarray(total / np.maximum(norms, np.float32(1e-12)), dtype=np.float32)

    def _windows(self, text: str) -> list[list[int]]:
        numbers = self._tokenizer.encode(text)
        room = self._longest - 2
        if len(numbers) <= room:
            return [[self._tokenizer.start, *numbers, self._tokenizer.end]]
        self.overlong += 1
        _log.warning(
            "embedding-provider input over %d tokens: %s (%d since the start)", room, self._overlong, self.overlong
        )
        parts = [numbers[i : i + room] for i in range(0, len(numbers), room)][:_MOST_WINDOWS]
        kept = parts[:1] if self._overlong == "truncate" else parts
        return [[self._tokenizer.start, *part, self._tokenizer.end] for part in kept]

    def _pooled(self, windows: Sequence[Sequence[int]]) -> NDArray[np.float32]:
        """One unit vector a window."""
        length = max(len(window) for window in windows)
        numbers = np.zeros((len(windows), length), dtype=np.int64)
        mask = np.zeros((len(windows), length), dtype=np.bool_)
        for row, window in enumerate(windows):
            numbers[row, : len(window)] = window
            mask[row, : len(window)] = True
        hidden = self._forward(numbers, mask)
        if self._recipe.pooling == "cls":
            pooled = hidden[:, 0, :]
        else:
            weights = mask.astype(np.float32)[:, :, None]
            pooled = (hidden * weights).sum(axis=1) / weights.sum(axis=1)
        return np.asarray(pooled / np.linalg.norm(pooled, axis=1, keepdims=True), dtype=np.float32)


def _by_length(windows: Sequence[tuple[int, list[int]]]) -> Iterator[list[tuple[int, list[int]]]]:
    """Batches of windows of about one length, so that little is padded; none over 8,192 tokens."""
    batch: list[tuple[int, list[int]]] = []
    for entry in sorted(windows, key=lambda one: -len(one[1])):
        longest = len(batch[0][1]) if batch else 0
        if batch and ((len(batch) + 1) * longest > _TOKENS_A_BATCH or 4 * len(entry[1]) < 3 * longest):
            yield batch
            batch = []
        batch.append(entry)
    if batch:
        yield batch


# --------------------------------------------------------------------------------------------- reading


def _read(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise InvalidInput(f"{path} is no JSON") from error


def _read_recipe(folder: Path) -> _Recipe:
    if not (folder / "modules.json").is_file():
        raise InvalidInput(f"{folder} is not a sentence-transformers directory: it has no modules.json")
    transformer = folder
    pooling: Mapping[str, Any] = {}
    for module in _read(folder / "modules.json"):
        kind = str(module.get("type", "")).rpartition(".")[2]
        place = folder / str(module.get("path", ""))
        if not place.resolve().is_relative_to(folder.resolve()):
            raise InvalidInput(f"{folder}: modules.json names a folder outside of it")
        match kind:
            case "Transformer":
                transformer = place
            case "Pooling":
                pooling = _read(place / "config.json")
            case "Normalize":
                pass
            case _:
                raise InvalidInput(
                    f"{folder}: the module {kind} is not known here (Transformer, Pooling, Normalize are)"
                )
    sizes = [_read(one) for one in (transformer / "sentence_bert_config.json",) if one.is_file()]
    config = _read(transformer / "config.json")
    longest = min(
        int(next((size["max_seq_length"] for size in sizes if size.get("max_seq_length")), 512)),
        int(config.get("max_position_embeddings", 512)),
    )
    kind = str(config.get("model_type", "bert"))
    return _Recipe(transformer=transformer, pooling=_pooling_mode(folder, pooling), longest=longest, kind=kind)


def _pooling_mode(folder: Path, pooling: Mapping[str, Any]) -> Literal["mean", "cls"]:
    on = {name.removeprefix("pooling_mode_") for name, value in pooling.items() if value is True}
    on -= {"include_prompt"}
    if on == {"mean_tokens"} or not pooling:
        return "mean"
    if on == {"cls_token"}:
        return "cls"
    raise InvalidInput(f"{folder}: this pooling is not known here ({', '.join(sorted(on))}); mean and cls are")


def _read_engine(recipe: _Recipe, engine: Engine) -> tuple[Path, _Forward, int, WordPiece]:
    """The weights' file, the forward pass, the length of its vectors, and what makes a text token numbers."""
    if recipe.kind == "nomic-bert":
        one = next(iter(sorted(recipe.transformer.glob("*.gguf"))), None)
        if one is None:
            raise InvalidInput(f"{recipe.transformer} holds no GGUF file, which is how this model is read")
        nomic, pieces = read_nomic(one)
        return one, nomic.tokens, nomic.width, pieces
    start, end = ("<s>", "</s>") if recipe.kind == "mpnet" else ("[CLS]", "[SEP]")
    tokenizer = read_wordpiece(recipe.transformer, start=start, end=end)
    files = [recipe.transformer / name for name in _WEIGHTS]
    onnx = next((path for path in files[1:] if path.is_file()), None)
    has_runtime = find_spec("onnxruntime") is not None
    if engine == "onnx" and (onnx is None or not has_runtime):
        what = "onnxruntime is not installed (the extra `onnx`)" if onnx is not None else "there is no ONNX file"
        raise InvalidInput(f"{recipe.transformer} cannot run on ONNX: {what}")
    if onnx is not None and has_runtime and engine != "numpy":
        width = int(_read(recipe.transformer / "config.json")["hidden_size"])
        return onnx, _onnx_forward(onnx), width, tokenizer
    if not files[0].is_file():
        raise InvalidInput(f"{recipe.transformer} holds no model.safetensors (pickled weights are never read)")
    bert = read_bert(recipe.transformer)
    return files[0], bert.tokens, bert.width, tokenizer


def _onnx_forward(path: Path) -> _Forward:
    import onnxruntime  # type: ignore[import-not-found,unused-ignore]

    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    wanted = {one.name for one in session.get_inputs()}

    def forward(numbers: NDArray[np.int64], mask: NDArray[np.bool_]) -> NDArray[np.float32]:
        given = {
            "input_ids": numbers,
            "attention_mask": mask.astype(np.int64),
            "token_type_ids": np.zeros_like(numbers),
        }
        outputs = session.run(None, {name: value for name, value in given.items() if name in wanted})
        return np.asarray(outputs[0], dtype=np.float32)

    return forward


def _digest(path: Path) -> bytes:
    digest = sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.digest()

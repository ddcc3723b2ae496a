"""Put two ways to run a BERT sentence encoder side by side: NumPy on the core alone, and onnxruntime.

    pip install onnx onnxruntime tokenizers
    python scripts/embedding_engines.py all-MiniLM-L6-v2

The folder is one of sentence-transformers. Its graph is written as ONNX from the same weights in 32 bits, so that both
compute the same thing; the texts are the sentences of this project's documents. Prints one table.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memhold.providers.embedding.bert import Bert, read_bert
from memhold.providers.embedding.directory import DirectoryEmbedding
from memhold.providers.embedding.wordpiece import read_wordpiece

ROOT = Path(__file__).parents[1]
ROUNDS = 5
ALONE = 20
Embed = Callable[[Sequence[str]], NDArray[np.float32]]


def sentences(most: int = 400) -> list[str]:
    """Sentences of the documents of this tree, each once."""
    text = " ".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / "docs").rglob("*.md")))
    found = [part.strip() for part in re.split(r"(?<=[.!?])\s+", re.sub(r"\s+", " ", text))]
    return list(dict.fromkeys(part for part in found if 20 <= len(part) <= 400))[:most]


class Graph:
    """The nodes and constants of an ONNX graph while it is written."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def constant(self, value: NDArray[Any]) -> str:
        """The name of a constant."""
        from onnx import numpy_helper

        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def node(self, kind: str, *inputs: str, **attributes: Any) -> str:
        """The name of what a node gives."""
        from onnx import helper

        name = f"n{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [name], **attributes))
        return name


def write_onnx(bert: Bert, path: Path) -> None:
    """The same encoder as an ONNX file: inputs `input_ids` and `attention_mask`, output the last layer's vectors."""
    from onnx import TensorProto, helper, save

    graph = Graph()
    width, size = bert.width, bert.width // bert.heads

    def linear(x: str, weight: NDArray[Any], bias: NDArray[Any]) -> str:
        return graph.node("Add", graph.node("MatMul", x, graph.constant(weight)), graph.constant(bias))

    def normed(x: str, norm: tuple[NDArray[Any], NDArray[Any]]) -> str:
        scale, shift = (graph.constant(one) for one in norm)
        return graph.node("LayerNormalization", x, scale, shift, axis=-1, epsilon=bert.epsilon)

    def heads(x: str, order: Sequence[int]) -> str:
        shape = graph.constant(np.array([0, 0, bert.heads, size], dtype=np.int64))
        return graph.node("Transpose", graph.node("Reshape", x, shape), perm=list(order))

    length = graph.node("Slice", graph.node("Shape", "input_ids"), *(graph.constant(np.array([n])) for n in (1, 2)))
    places = graph.node("Slice", graph.constant(bert.positions), graph.constant(np.array([0])), length)
    words = graph.node("Gather", graph.constant(bert.words), "input_ids")
    x = normed(graph.node("Add", words, places), bert.norm)
    real = graph.node("Cast", "attention_mask", to=TensorProto.FLOAT)
    hidden = graph.node("Mul", graph.node("Sub", graph.constant(np.float32(1)), real), graph.constant(np.float32(-1e9)))
    shade = graph.node("Unsqueeze", hidden, graph.constant(np.array([1, 2])))
    for layer in bert.layers:
        q, k, v = (
            heads(linear(x, layer.qkv[:, at : at + width], layer.qkv_bias[at : at + width]), order)
            for at, order in ((0, (0, 2, 1, 3)), (width, (0, 2, 3, 1)), (2 * width, (0, 2, 1, 3)))
        )
        scores = graph.node("Div", graph.node("MatMul", q, k), graph.constant(np.float32(np.sqrt(size))))
        seen = graph.node("MatMul", graph.node("Softmax", graph.node("Add", scores, shade), axis=-1), v)
        flat = graph.node("Transpose", seen, perm=[0, 2, 1, 3])
        joined = graph.node("Reshape", flat, graph.constant(np.array([0, 0, width], dtype=np.int64)))
        x = normed(graph.node("Add", x, linear(joined, layer.out, layer.out_bias)), layer.norm)
        up = linear(x, layer.up, layer.up_bias)
        turned = graph.node("Erf", graph.node("Div", up, graph.constant(np.float32(np.sqrt(2)))))
        half = graph.node("Mul", up, graph.constant(np.float32(0.5)))
        grown = graph.node("Mul", half, graph.node("Add", turned, graph.constant(np.float32(1))))
        x = normed(graph.node("Add", x, linear(grown, layer.down, layer.down_bias)), layer.last_norm)
    names = ("input_ids", "attention_mask")
    given = [helper.make_tensor_value_info(name, TensorProto.INT64, ["b", "t"]) for name in names]
    output = helper.make_tensor_value_info(x, TensorProto.FLOAT, ["b", "t", width])
    made = helper.make_graph(graph.nodes, "bert", given, [output], graph.constants)
    save(helper.make_model(made, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


def timed(engines: Mapping[str, Embed], texts: Sequence[str]) -> dict[str, tuple[float, float]]:
    """Sentences a second in one call, and milliseconds of a sentence of middle length alone, by engine.

    The engines take turns, and the best of each one's rounds counts: other work on the machine falls on all of them.
    """
    middle = sorted(texts, key=len)[len(texts) // 2]
    rates, ones = dict.fromkeys(engines, 0.0), dict.fromkeys(engines, float("inf"))
    for _ in range(ROUNDS):
        for name, embed in engines.items():
            start = perf_counter()
            embed(texts)
            rates[name] = max(rates[name], len(texts) / (perf_counter() - start))
            for _ in range(ALONE):
                start = perf_counter()
                embed([middle])
                ones[name] = min(ones[name], (perf_counter() - start) * 1e3)
    return {name: (rates[name], ones[name]) for name in engines}


def started(code: str) -> float:
    """Milliseconds that a fresh interpreter takes for some imports, over the bare one."""
    took = []
    for line in (code, "pass"):
        runs = []
        for _ in range(5):
            start = perf_counter()
            subprocess.run([sys.executable, "-c", line], check=True)
            runs.append(perf_counter() - start)
        took.append(min(runs))
    return (took[0] - took[1]) * 1e3


def installed(*packages: str) -> float:
    """Megabytes on disk of some packages as they are installed here."""
    from importlib.metadata import files

    return (
        sum(
            path.stat().st_size
            for package in packages
            for file in files(package) or ()
            if (path := Path(str(file.locate()))).exists() and path.suffix != ".pyc"
        )
        / 1e6
    )


def main(folder: Path) -> None:
    """Measure and print."""
    from tokenizers import Tokenizer

    texts = sentences()
    ours = DirectoryEmbedding(folder, engine="numpy")
    with tempfile.TemporaryDirectory() as made:
        copy = Path(made) / "model"
        copy.mkdir()
        for path in folder.rglob("*"):
            if path.is_file() and path.suffix != ".safetensors":
                target = copy / path.relative_to(folder)
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(path.read_bytes())
        (copy / "onnx").mkdir(exist_ok=True)
        write_onnx(read_bert(folder), copy / "onnx" / "model.onnx")
        theirs = DirectoryEmbedding(copy, engine="onnx")
    cosines = (ours.vectors(texts) * theirs.vectors(texts)).sum(axis=1)
    mine, published = read_wordpiece(folder), Tokenizer.from_file(str(folder / "tokenizer.json"))
    published.no_truncation()
    published.no_padding()
    same = sum(mine.encode(text) == published.encode(text, add_special_tokens=False).ids for text in texts)
    print(f"{len(texts)} sentences; smallest cosine {cosines.min():.7f}; tokens the same in {same}")
    print("| engine | MB beside the core | import, ms | sentences a second | one alone, ms |")
    print("|---|---:|---:|---:|---:|")
    took = timed({"numpy": ours.vectors, "onnx": theirs.vectors}, texts)
    for name, engine, packages, code in (
        ("NumPy", "numpy", (), "import numpy, memhold.providers.embedding.bert"),
        ("onnxruntime", "onnx", ("onnxruntime", "flatbuffers", "protobuf"), "import numpy, onnxruntime"),
    ):
        rate, alone = took[engine]
        print(f"| {name} | {installed(*packages):.0f} | {started(code):.0f} | {rate:.0f} | {alone:.1f} |")
    for name, encode in (("own WordPiece", mine.encode), ("tokenizers", lambda text: published.encode(text).ids)):
        start = perf_counter()
        for text in texts:
            encode(text)
        print(f"{name}: {(perf_counter() - start) / len(texts) * 1e6:.0f} us a sentence")
    print(f"tokenizers: {installed('tokenizers'):.0f} MB, import {started('import tokenizers'):.0f} ms")


if __name__ == "__main__":
    main(Path(sys.argv[1]))

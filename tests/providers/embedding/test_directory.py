"""A model directory in NumPy: a published result on the real weights, a slow reference on small ones."""

from __future__ import annotations

import json
import math
import shutil
import struct
import sys

import numpy as np
import pytest

from memhold.errors import InvalidInput
from memhold.providers.embedding.bert import erf, read_safetensors
from memhold.providers.embedding.directory import DirectoryEmbedding
from memhold.providers.embedding.wordpiece import read_wordpiece

VOCABULARY = [
    "[PAD]",
    "[UNK]",
    "[CLS]",
    "[SEP]",
    "the",
    "cat",
    "sat",
    "##s",
    "##ing",
    "play",
    ",",
    "커",
    "##피",
    "猫",
    "cafe",
]
WIDTH, HEADS, INNER, LAYERS = 8, 2, 16, 2


def write_safetensors(path, tensors, dtype="F32"):
    header, blobs, at = {}, [], 0
    for name, tensor in tensors.items():
        blob = tensor.astype(np.float32).tobytes()
        if dtype == "BF16":
            blob = (np.frombuffer(blob, dtype=np.uint32) >> 16).astype(np.uint16).tobytes()
        header[name] = {"dtype": dtype, "shape": list(tensor.shape), "data_offsets": [at, at + len(blob)]}
        blobs.append(blob)
        at += len(blob)
    head = json.dumps({"__metadata__": {"format": "pt"}, **header}).encode()
    path.write_bytes(struct.pack("<Q", len(head)) + head + b"".join(blobs))


def small_weights():
    dice = np.random.default_rng(3)
    shapes = {
        "embeddings.word_embeddings.weight": (len(VOCABULARY), WIDTH),
        "embeddings.position_embeddings.weight": (12, WIDTH),
        "embeddings.token_type_embeddings.weight": (2, WIDTH),
    }
    norms = ["embeddings.LayerNorm"]
    for n in range(LAYERS):
        base = f"encoder.layer.{n}"
        for part in ("query", "key", "value"):
            shapes[f"{base}.attention.self.{part}.weight"] = (WIDTH, WIDTH)
            shapes[f"{base}.attention.self.{part}.bias"] = (WIDTH,)
        shapes[f"{base}.attention.output.dense.weight"] = (WIDTH, WIDTH)
        shapes[f"{base}.attention.output.dense.bias"] = (WIDTH,)
        shapes[f"{base}.intermediate.dense.weight"] = (INNER, WIDTH)
        shapes[f"{base}.intermediate.dense.bias"] = (INNER,)
        shapes[f"{base}.output.dense.weight"] = (WIDTH, INNER)
        shapes[f"{base}.output.dense.bias"] = (WIDTH,)
        norms += [f"{base}.attention.output.LayerNorm", f"{base}.output.LayerNorm"]
    for name in norms:
        shapes[f"{name}.weight"] = shapes[f"{name}.bias"] = (WIDTH,)
    return {name: dice.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}


@pytest.fixture
def small(tmp_path):
    folder = tmp_path / "model"
    (folder / "1_Pooling").mkdir(parents=True)
    kinds = [("", "Transformer"), ("1_Pooling", "Pooling"), ("2_Normalize", "Normalize")]
    modules = [{"path": path, "type": f"sentence_transformers.models.{kind}"} for path, kind in kinds]
    config = {
        "hidden_size": WIDTH,
        "num_hidden_layers": LAYERS,
        "num_attention_heads": HEADS,
        "max_position_embeddings": 12,
    }
    (folder / "modules.json").write_text(json.dumps(modules))
    (folder / "config.json").write_text(json.dumps({"model_type": "bert", "hidden_act": "gelu", **config}))
    (folder / "1_Pooling" / "config.json").write_text(
        '{"pooling_mode_mean_tokens": true, "pooling_mode_cls_token": false}'
    )
    (folder / "vocab.txt").write_text("\n".join(VOCABULARY) + "\n")
    write_safetensors(folder / "model.safetensors", small_weights())
    return folder


def slow_reference(weights, numbers):
    """The encoder by the paper, one text, number by number."""

    def linear(x, name):
        return [
            sum(a * b for a, b in zip(row, x, strict=True)) + bias
            for row, bias in zip(weights[f"{name}.weight"].tolist(), weights[f"{name}.bias"].tolist(), strict=True)
        ]

    def norm(x, name):
        mean = sum(x) / len(x)
        spread = math.sqrt(sum((v - mean) ** 2 for v in x) / len(x) + 1e-12)
        scale, shift = weights[f"{name}.weight"].tolist(), weights[f"{name}.bias"].tolist()
        return [(v - mean) / spread * s + b for v, s, b in zip(x, scale, shift, strict=True)]

    def plus(a, b):
        return [x + y for x, y in zip(a, b, strict=True)]

    words, places = weights["embeddings.word_embeddings.weight"], weights["embeddings.position_embeddings.weight"]
    kind = weights["embeddings.token_type_embeddings.weight"][0]
    xs = [norm((words[n] + places[i] + kind).tolist(), "embeddings.LayerNorm") for i, n in enumerate(numbers)]
    size = WIDTH // HEADS
    for n in range(LAYERS):
        base = f"encoder.layer.{n}"
        q, k, v = ([linear(x, f"{base}.attention.self.{part}") for x in xs] for part in ("query", "key", "value"))
        seen = []
        for i in range(len(xs)):
            out = []
            for h in range(HEADS):
                part = slice(h * size, (h + 1) * size)
                raw = [sum(a * b for a, b in zip(q[i][part], kj[part], strict=True)) / math.sqrt(size) for kj in k]
                grown = [math.exp(r - max(raw)) for r in raw]
                out += [sum(g * vj[part][d] for g, vj in zip(grown, v, strict=True)) / sum(grown) for d in range(size)]
            seen.append(out)
        attended = [linear(s, f"{base}.attention.output.dense") for s in seen]
        xs = [norm(plus(x, a), f"{base}.attention.output.LayerNorm") for x, a in zip(xs, attended, strict=True)]
        ups = [
            [u * 0.5 * (1 + math.erf(u / math.sqrt(2))) for u in linear(x, f"{base}.intermediate.dense")] for x in xs
        ]
        downs = [linear(u, f"{base}.output.dense") for u in ups]
        xs = [norm(plus(x, d), f"{base}.output.LayerNorm") for x, d in zip(xs, downs, strict=True)]
    mean = [sum(column) / len(xs) for column in zip(*xs, strict=True)]
    length = math.sqrt(sum(m * m for m in mean))
    return [m / length for m in mean]


def test_the_forward_pass_is_the_papers(small):
    model = DirectoryEmbedding(small, engine="numpy")
    texts = ["the cat sat", "cats playing, 猫", "커피", "the"]
    tokenizer = read_wordpiece(small)
    weights = small_weights()
    expected = [slow_reference(weights, [2, *tokenizer.encode(text), 3]) for text in texts]
    assert np.allclose(model.vectors(texts), expected, atol=2e-6)


def test_erf_is_erf():
    x = np.linspace(-6, 6, 5_001, dtype=np.float32)
    assert max(abs(float(a) - math.erf(float(b))) for a, b in zip(erf(x), x, strict=True)) < 1e-6


def test_wordpiece(small):
    tokenizer = read_wordpiece(small)
    words = [VOCABULARY[n] for n in tokenizer.encode("The CATS, playing\t猫cat Café \u0000zebra [CLS]")]
    assert words == ["the", "cat", "##s", ",", "play", "##ing", "猫", "cat", "cafe", *["[UNK]"] * 4]
    assert tokenizer.encode("c" * 101) == [1]
    assert tokenizer.encode("") == []


async def test_long_texts_are_truncated_or_split(small, caplog):
    text = "the cat sat " * 6
    cut = DirectoryEmbedding(small, engine="numpy")
    whole = DirectoryEmbedding(small, engine="numpy", overlong="split")
    first, first_again = await cut.embed([text, "the cat sat " * 3 + "the"], purpose="document")
    assert np.allclose(first, first_again, atol=1e-6)
    assert cut.overlong == 1
    assert "over 10 tokens: truncate (1 since the start)" in caplog.text
    assert not np.allclose(first, (await whole.embed([text], purpose="document"))[0], atol=1e-3)
    assert cut.fingerprint != whole.fingerprint
    assert DirectoryEmbedding(small, engine="numpy").fingerprint == cut.fingerprint


async def test_inputs_and_prefixes(small):
    model = DirectoryEmbedding(small, engine="numpy", query_prefix="cat ")
    assert np.allclose(await model.embed(["sat"], purpose="query"), await model.embed(["cat sat"], purpose="document"))
    assert (await model.embed([], purpose="document")).shape == (0, WIDTH)
    with pytest.raises(InvalidInput):
        await model.embed(["cat", " "], purpose="document")


async def test_the_name_of_a_directory_tells_what_its_model_was_trained_with(small):
    e5 = small.rename(small.with_name("e5-small-v2"))
    named = DirectoryEmbedding(e5, engine="numpy")
    said = DirectoryEmbedding(e5, engine="numpy", query_prefix="query: ", document_prefix="passage: ")
    bare = DirectoryEmbedding(e5, engine="numpy", query_prefix="", document_prefix="")
    assert named.fingerprint == said.fingerprint != bare.fingerprint
    assert np.allclose(await named.embed(["cat"], purpose="query"), bare.vectors(["query: cat"]))
    assert np.allclose(await named.embed(["cat"], purpose="document"), bare.vectors(["passage: cat"]))


def test_other_directories_are_refused_with_a_reason(small):
    def refused(match, **more):
        with pytest.raises(InvalidInput, match=match):
            DirectoryEmbedding(small, **more)

    refused("no ONNX file|not installed", engine="onnx")
    weights = (small / "model.safetensors").read_bytes()
    (small / "model.safetensors").write_bytes(weights[:-10])
    refused("is cut")
    (small / "model.safetensors").write_bytes(b"\xff" * 40)
    refused("not a safetensors file")
    (small / "model.safetensors").unlink()
    refused("pickled weights are never read")
    (small / "1_Pooling" / "config.json").write_text('{"pooling_mode_max_tokens": true}')
    refused("pooling")
    (small / "modules.json").write_text('[{"path": "../x", "type": "a.Pooling"}]')
    refused("outside of it")
    (small / "modules.json").unlink()
    refused("no modules.json")


def test_bfloat16_is_widened(tmp_path):
    write_safetensors(tmp_path / "x", {"a": np.array([[1.5, -2.0]])}, dtype="BF16")
    assert read_safetensors(tmp_path / "x")["a"].tolist() == [[1.5, -2.0]]


FAKE_RUNTIME = """
import numpy as np
class InferenceSession:
    def __init__(self, path, providers): self.path = path
    def get_inputs(self): return [type("I", (), {"name": n}) for n in ("input_ids", "attention_mask")]
    def run(self, names, given):
        assert set(given) == {"input_ids", "attention_mask"}
        return [np.stack([given["input_ids"], given["attention_mask"]] * 4, axis=-1).astype(np.float32)]
"""


def test_an_onnx_file_is_used_where_the_runtime_is(small, tmp_path, monkeypatch):
    (small / "onnx").mkdir()
    (small / "onnx" / "model.onnx").write_bytes(b"graph")
    before = DirectoryEmbedding(small, engine="numpy")
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "onnxruntime.py").write_text(FAKE_RUNTIME)
    monkeypatch.syspath_prepend(str(tmp_path / "lib"))
    monkeypatch.delitem(sys.modules, "onnxruntime", raising=False)
    model = DirectoryEmbedding(small)
    expected = np.array([(2 + 4 + 3) / 3, 1] * 4)  # the mean over [CLS] the [SEP]
    assert np.allclose(model.vectors(["the"]), expected / np.linalg.norm(expected), atol=1e-6)
    assert model.fingerprint != before.fingerprint
    sys.modules.pop("onnxruntime")


def test_a_damaged_copy_of_the_weights_is_another_generation(small):
    before = DirectoryEmbedding(small, engine="numpy").fingerprint
    changed = small_weights()
    changed["embeddings.LayerNorm.bias"] = changed["embeddings.LayerNorm.bias"] + 0.01
    write_safetensors(small / "model.safetensors", changed)
    assert DirectoryEmbedding(small, engine="numpy").fingerprint != before
    copy = small.parent / "elsewhere"
    shutil.copytree(small, copy)
    assert DirectoryEmbedding(copy, engine="numpy").fingerprint == DirectoryEmbedding(small, engine="numpy").fingerprint

"""MPNet and Nomic's BERT in NumPy beside slow references, number by number, and the GGUF file that the latter is in."""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memhold.errors import InvalidInput
from memhold.providers.embedding.directory import DirectoryEmbedding
from memhold.providers.embedding.gguf import read_gguf
from memhold.providers.embedding.nomic import read_nomic
from memhold.providers.embedding.official import OFFICIAL
from memhold.wiring import models as wired
from memhold.wiring.models import embedding_of
from tests.providers.embedding.test_directory import write_safetensors

WIDTH, HEADS, INNER, LAYERS, BUCKETS, LONGEST = 8, 2, 12, 2, 32, 300
SIZE = WIDTH // HEADS
PIECES = ["<s>", "<pad>", "</s>", "[PAD]", "[UNK]", "[CLS]", "[SEP]", "the", "cat", "sat", "##s", "##ing", "play", ","]
TEXTS = ["the cat sat", "Cats playing, the", "the", "sat the cats " * 60]
Row = list[float]


def norm(x: Row, scale: Sequence[float], shift: Sequence[float], epsilon: float) -> Row:
    mean = sum(x) / len(x)
    spread = math.sqrt(sum((v - mean) ** 2 for v in x) / len(x) + epsilon)
    return [(v - mean) / spread * s + b for v, s, b in zip(x, scale, shift, strict=True)]


def times(matrix: Any, x: Sequence[float]) -> Row:
    found: Row = (np.asarray(matrix, dtype=np.float64) @ np.asarray(x, dtype=np.float64)).tolist()
    return found


def plus(*rows: Sequence[float]) -> Row:
    return [sum(values) for values in zip(*rows, strict=True)]


def softly(scores: Row) -> Row:
    grown = [math.exp(one - max(scores)) for one in scores]
    return [one / sum(grown) for one in grown]


def pooled(rows: Sequence[Row]) -> Row:
    mean = [sum(column) / len(rows) for column in zip(*rows, strict=True)]
    length = math.sqrt(sum(one * one for one in mean))
    return [one / length for one in mean]


def bucket(ahead: int) -> int:
    """By Raffel et al. 2020, as MPNet's authors have it: exact below 8, logarithmic to 128, 16 of them for what follows."""
    apart = abs(ahead)
    near = apart if apart < 8 else min(15, 8 + int(math.log(apart / 8) / math.log(128 / 8) * 8))
    return near + (16 if ahead > 0 else 0)


# ------------------------------------------------------------------------------------------------------------ MPNet


def mpnet_weights() -> dict[str, Any]:
    shapes: dict[str, tuple[int, ...]] = {
        "embeddings.word_embeddings.weight": (len(PIECES), WIDTH),
        "embeddings.position_embeddings.weight": (LONGEST + 2, WIDTH),
        "encoder.relative_attention_bias.weight": (BUCKETS, HEADS),
    }
    norms = ["embeddings.LayerNorm"]
    for n in range(LAYERS):
        base = f"encoder.layer.{n}"
        linear = {f"attention.attn.{one}": (WIDTH, WIDTH) for one in "qkvo"}
        linear |= {"intermediate.dense": (INNER, WIDTH), "output.dense": (WIDTH, INNER)}
        for name, shape in linear.items():
            shapes |= {f"{base}.{name}.weight": shape, f"{base}.{name}.bias": shape[:1]}
        norms += [f"{base}.attention.LayerNorm", f"{base}.output.LayerNorm"]
    for name in norms:
        shapes |= {f"{name}.weight": (WIDTH,), f"{name}.bias": (WIDTH,)}
    dice = np.random.default_rng(5)
    return {name: dice.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}


def put_folder(folder: Path, config: Mapping[str, Any]) -> Path:
    (folder / "1_Pooling").mkdir(parents=True)
    kinds = [("", "Transformer"), ("1_Pooling", "Pooling"), ("2_Normalize", "Normalize")]
    modules = [{"path": path, "type": f"sentence_transformers.models.{kind}"} for path, kind in kinds]
    (folder / "modules.json").write_text(json.dumps(modules))
    (folder / "1_Pooling" / "config.json").write_text('{"pooling_mode_mean_tokens": true}')
    (folder / "config.json").write_text(json.dumps(config))
    return folder


@pytest.fixture
def mpnet(tmp_path: Path) -> Path:
    config = {
        "model_type": "mpnet",
        "hidden_act": "gelu",
        "hidden_size": WIDTH,
        "num_hidden_layers": LAYERS,
        "num_attention_heads": HEADS,
        "max_position_embeddings": LONGEST + 2,
        "layer_norm_eps": 1e-5,
    }
    folder = put_folder(tmp_path / "mpnet", config)
    (folder / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": LONGEST}))
    (folder / "vocab.txt").write_text("\n".join(PIECES) + "\n")
    write_safetensors(folder / "model.safetensors", mpnet_weights())
    return folder


def slow_mpnet(held: Mapping[str, Any], numbers: Sequence[int]) -> Row:
    def linear(x: Row, name: str) -> Row:
        return plus(times(held[f"{name}.weight"], x), held[f"{name}.bias"].tolist())

    def normed(x: Row, name: str) -> Row:
        return norm(x, held[f"{name}.weight"].tolist(), held[f"{name}.bias"].tolist(), 1e-5)

    words, places = held["embeddings.word_embeddings.weight"], held["embeddings.position_embeddings.weight"]
    apart = held["encoder.relative_attention_bias.weight"].tolist()
    xs = [normed((words[n] + places[i + 2]).tolist(), "embeddings.LayerNorm") for i, n in enumerate(numbers)]
    for n in range(LAYERS):
        base = f"encoder.layer.{n}"
        q, k, v = ([linear(x, f"{base}.attention.attn.{part}") for x in xs] for part in "qkv")
        seen: list[Row] = [[] for _ in xs]
        for h in range(HEADS):
            part = slice(h * SIZE, (h + 1) * SIZE)
            for i in range(len(xs)):
                raw = [sum(a * b for a, b in zip(q[i][part], kj[part], strict=True)) / math.sqrt(SIZE) for kj in k]
                share = softly([one + apart[bucket(j - i)][h] for j, one in enumerate(raw)])
                seen[i] += times(np.array([vj[part] for vj in v]).T, share)
        attended = [linear(one, f"{base}.attention.attn.o") for one in seen]
        xs = [normed(plus(x, a), f"{base}.attention.LayerNorm") for x, a in zip(xs, attended, strict=True)]
        ups = [linear(x, f"{base}.intermediate.dense") for x in xs]
        grown = [[u * 0.5 * (1 + math.erf(u / math.sqrt(2))) for u in one] for one in ups]
        downs = [linear(one, f"{base}.output.dense") for one in grown]
        xs = [normed(plus(x, d), f"{base}.output.LayerNorm") for x, d in zip(xs, downs, strict=True)]
    return pooled(xs)


def encoded(text: str) -> list[int]:
    """What the pieces of `TEXTS` are, by hand."""
    found = []
    for word in text.lower().replace(",", " ,").split():
        for ending in ("s", "ing"):
            if word not in PIECES and word.removesuffix(ending) in PIECES:
                found += [PIECES.index(word.removesuffix(ending)), PIECES.index(f"##{ending}")]
                break
        else:
            found.append(PIECES.index(word))
    return found


def test_mpnet_knows_how_far_apart_two_tokens_are(mpnet: Path) -> None:
    model = DirectoryEmbedding(mpnet)
    start, end = PIECES.index("<s>"), PIECES.index("</s>")
    expected = [slow_mpnet(mpnet_weights(), [start, *encoded(text), end]) for text in TEXTS]
    assert np.allclose(model.vectors(TEXTS), expected, atol=1e-5)
    assert np.allclose(model.vectors(TEXTS[:1]), expected[:1], atol=1e-5), "alone as in a batch"


def test_what_is_missing_is_named(mpnet: Path) -> None:
    held = mpnet_weights()
    del held["encoder.relative_attention_bias.weight"]
    write_safetensors(mpnet / "model.safetensors", held)
    with pytest.raises(InvalidInput, match="relative_attention_bias"):
        DirectoryEmbedding(mpnet)
    (mpnet / "config.json").write_text('{"model_type": "roberta"}')
    with pytest.raises(InvalidInput, match=r"roberta model .*bert and mpnet"):
        DirectoryEmbedding(mpnet)


# ------------------------------------------------------------------------------------------------------------ Nomic


def gguf_text(text: str) -> bytes:
    return struct.pack("<Q", len(text.encode())) + text.encode()


def gguf_value(value: Any) -> bytes:
    match value:
        case str():
            return struct.pack("<I", 8) + gguf_text(value)
        case int():
            return struct.pack("<II", 4, value)
        case float():
            return struct.pack("<If", 6, value)
        case _:
            return struct.pack("<IIQ", 9, 8, len(value)) + b"".join(map(gguf_text, value))


def write_gguf(path: Path, about: Mapping[str, Any], tensors: Mapping[str, Any], *, types: Mapping[str, int]) -> None:
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(about))
    head += b"".join(gguf_text(name) + gguf_value(value) for name, value in about.items())
    body = b""
    for name, tensor in tensors.items():
        kind = types.get(name, 0)
        blob = tensor.astype(np.float16 if kind == 1 else np.float32).tobytes()
        body += b"\0" * (-len(body) % 32)
        shape = tensor.shape[::-1]
        head += gguf_text(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, kind, len(body))
        body += blob
    path.write_bytes(head + b"\0" * (-len(head) % 32) + body)


def nomic_weights() -> dict[str, Any]:
    shapes: dict[str, tuple[int, ...]] = {"token_embd.weight": (len(PIECES), WIDTH), "token_types.weight": (2, WIDTH)}
    norms = ["token_embd_norm"]
    for n in range(LAYERS):
        base = f"blk.{n}"
        shapes |= {
            f"{base}.attn_qkv.weight": (3 * WIDTH, WIDTH),
            f"{base}.attn_output.weight": (WIDTH, WIDTH),
            f"{base}.ffn_up.weight": (INNER, WIDTH),
            f"{base}.ffn_gate.weight": (INNER, WIDTH),
            f"{base}.ffn_down.weight": (WIDTH, INNER),
        }
        norms += [f"{base}.attn_output_norm", f"{base}.layer_output_norm"]
    for name in norms:
        shapes |= {f"{name}.weight": (WIDTH,), f"{name}.bias": (WIDTH,)}
    dice = np.random.default_rng(7)
    return {name: dice.normal(size=shape).astype(np.float16).astype(np.float32) for name, shape in shapes.items()}


ABOUT: Mapping[str, Any] = {
    "general.architecture": "nomic-bert",
    "nomic-bert.block_count": LAYERS,
    "nomic-bert.attention.head_count": HEADS,
    "nomic-bert.attention.layer_norm_epsilon": 1e-5,
    "nomic-bert.rope.freq_base": 1000.0,
    "tokenizer.ggml.model": "bert",
    "tokenizer.ggml.tokens": [
        one if one.startswith("[") else one.removeprefix("##") if one.startswith("##") else f"\u2581{one}"
        for one in PIECES
    ],
}


@pytest.fixture
def nomic(tmp_path: Path) -> Path:
    folder = put_folder(tmp_path / "nomic", {"model_type": "nomic-bert", "max_position_embeddings": LONGEST})
    halved = {name: 1 for name in nomic_weights() if name.endswith(("qkv.weight", "embd.weight", "up.weight"))}
    write_gguf(folder / "small.f16.gguf", ABOUT, nomic_weights(), types=halved)
    return folder


def slow_nomic(held: Mapping[str, Any], numbers: Sequence[int]) -> Row:
    def normed(x: Row, name: str) -> Row:
        return norm(x, held[f"{name}.weight"].tolist(), held[f"{name}.bias"].tolist(), 1e-5)

    def turned(x: Row, place: int) -> Row:
        """Each number and the one half a head further are a point, turned by the place."""
        found, half = list(x), SIZE // 2
        for pair in range(half):
            angle = place * 1000 ** (-2 * pair / SIZE)
            a, b = x[pair], x[pair + half]
            found[pair] = a * math.cos(angle) - b * math.sin(angle)
            found[pair + half] = b * math.cos(angle) + a * math.sin(angle)
        return found

    words = held["token_embd.weight"] + held["token_types.weight"][0]
    xs = [normed(words[n].tolist(), "token_embd_norm") for n in numbers]
    for n in range(LAYERS):
        base = f"blk.{n}"
        whole = [times(held[f"{base}.attn_qkv.weight"], x) for x in xs]
        seen: list[Row] = [[] for _ in xs]
        for h in range(HEADS):
            q, k, v = (
                [one[part * WIDTH + h * SIZE : part * WIDTH + (h + 1) * SIZE] for one in whole] for part in range(3)
            )
            q = [turned(one, i) for i, one in enumerate(q)]
            k = [turned(one, i) for i, one in enumerate(k)]
            for i in range(len(xs)):
                share = softly([sum(a * b for a, b in zip(q[i], kj, strict=True)) / math.sqrt(SIZE) for kj in k])
                seen[i] += times(np.array(v).T, share)
        attended = [times(held[f"{base}.attn_output.weight"], one) for one in seen]
        xs = [normed(plus(x, a), f"{base}.attn_output_norm") for x, a in zip(xs, attended, strict=True)]
        ups = [times(held[f"{base}.ffn_up.weight"], x) for x in xs]
        gates = [[g / (1 + math.exp(-g)) for g in times(held[f"{base}.ffn_gate.weight"], x)] for x in xs]
        inner = [[u * g for u, g in zip(up, gate, strict=True)] for up, gate in zip(ups, gates, strict=True)]
        downs = [times(held[f"{base}.ffn_down.weight"], one) for one in inner]
        xs = [normed(plus(x, d), f"{base}.layer_output_norm") for x, d in zip(xs, downs, strict=True)]
    return pooled(xs)


def test_nomic_turns_its_places_and_gates_its_units(nomic: Path) -> None:
    model = DirectoryEmbedding(nomic)
    start, end = PIECES.index("[CLS]"), PIECES.index("[SEP]")
    expected = [slow_nomic(nomic_weights(), [start, *encoded(text), end]) for text in TEXTS]
    assert np.allclose(model.vectors(TEXTS), expected, atol=1e-5)
    assert np.allclose(model.vectors(TEXTS[:1]), expected[:1], atol=1e-5), "alone as in a batch"


def test_a_gguf_file_that_ends_too_early_is_refused(nomic: Path) -> None:
    path = nomic / "small.f16.gguf"
    whole = path.read_bytes()
    read_gguf(path)
    for end in {0, 3, 4, 20, *range(24, len(whole), 97), len(whole) - 1}:
        path.write_bytes(whole[:end])
        with pytest.raises(InvalidInput, match="cut"):
            read_gguf(path)


def test_a_gguf_file_that_promises_more_than_it_has_is_refused(nomic: Path) -> None:
    path = nomic / "small.f16.gguf"
    whole = path.read_bytes()
    many = struct.pack("<Q", 1 << 60)
    for at in (8, 16, 24):
        path.write_bytes(whole[:at] + many + whole[at + 8 :])
        with pytest.raises(InvalidInput, match="cut"):
            read_gguf(path)
    path.write_bytes(whole[:4] + struct.pack("<I", 9) + whole[8:])
    with pytest.raises(InvalidInput, match="not a GGUF file"):
        read_gguf(path)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"general.architecture": "llama"}, "is a llama model"),
        ({"tokenizer.ggml.tokens": ["\u2581the"]}, r"does not tell '\[UNK\]'"),
        ({"nomic-bert.block_count": 3}, r"blk\.2\.attn_qkv\.weight are missing"),
    ],
)
def test_another_model_in_a_gguf_file_is_refused(nomic: Path, changed: Mapping[str, Any], said: str) -> None:
    write_gguf(nomic / "small.f16.gguf", {**ABOUT, **changed}, nomic_weights(), types={})
    with pytest.raises(InvalidInput, match=said):
        read_nomic(nomic / "small.f16.gguf")


def test_quantised_weights_are_refused_with_what_to_take(nomic: Path) -> None:
    write_gguf(nomic / "small.f16.gguf", ABOUT, nomic_weights(), types={"blk.0.ffn_up.weight": 2})
    with pytest.raises(InvalidInput, match=r"quantised; take the file with 16 bits"):
        DirectoryEmbedding(nomic)
    (nomic / "small.f16.gguf").unlink()
    with pytest.raises(InvalidInput, match="no GGUF file"):
        DirectoryEmbedding(nomic)


async def test_a_published_embedding_puts_its_words_before_a_text(
    nomic: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    small = replace(OFFICIAL["nomic"], files=(), recipe={}, query_prefix="cat ", document_prefix="the ")
    monkeypatch.setattr(wired, "OFFICIAL", {"nomic": small})
    monkeypatch.setattr(wired, "models_folder", lambda: tmp_path)
    named, plain = embedding_of("nomic", None, None), DirectoryEmbedding(nomic)
    assert named is not None
    model = await named._opened()
    assert np.allclose(await model.embed(["sat"], purpose="query"), plain.vectors(["cat sat"]), atol=1e-6)
    assert np.allclose(await model.embed(["sat"], purpose="document"), plain.vectors(["the sat"]), atol=1e-6)
    assert model.fingerprint != plain.fingerprint

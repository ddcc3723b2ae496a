import asyncio
import hashlib
import importlib.util
import json
import math
import mmap
import pickle
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memhold import AsyncMemhold
from memhold.errors import ModelDamaged
from memhold.ports.models import EmbeddingModel
from memhold.providers.embedding.builtin.model import BUILTIN_DIRECTORY, BuiltinEmbedding, builtin_embedding
from memhold.providers.embedding.builtin.pieces import PieceReader

ROOT = Path(__file__).parents[2]
MEGABYTE = 1_000_000
EMBEDDING: EmbeddingModel = BuiltinEmbedding()
BUILTIN = BuiltinEmbedding()
EVERY_STRING = st.text(st.characters(exclude_categories=()), max_size=200)

# (query, what answers it, what does not)
TRIPLES = [
    ("Which seat does she like on a plane?", "I always book the window seat when I fly.", "The rent is due on Friday."),
    ("What does he eat for breakfast?", "Porridge with berries, every morning.", "My sister plays the cello."),
    ("Does Ana have any pets?", "Ana: our dog had puppies last week!", "Ana: the printer is out of ink again."),
    ("What is his job?", "I started working as a nurse at the hospital.", "We painted the fence green."),
    (
        "Where did they go on holiday?",
        "We spent two weeks camping by the lake.",
        "The build fails on the new compiler.",
    ),
    ("What is she allergic to?", "Peanuts make my throat swell up.", "The concert was sold out."),
    ("Which database does the project use?", "We moved the service to PostgreSQL.", "Grandma's birthday is in May."),
    ("How is her health?", "The doctor says my blood pressure is too high.", "I bought a blue bicycle."),
]


def script():
    spec = importlib.util.spec_from_file_location("distill_embedding", ROOT / "scripts" / "distill_embedding.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["distill_embedding"] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def copy(tmp_path):
    return Path(shutil.copytree(BUILTIN_DIRECTORY, tmp_path / "table"))


async def test_a_batch_has_unit_vectors_of_the_declared_dimension():
    texts = [text for triple in TRIPLES for text in triple]
    vectors = await EMBEDDING.embed(texts, purpose="document")
    assert vectors.dtype == np.float32
    assert vectors.shape == (len(texts), EMBEDDING.dimension) == (len(texts), 256)
    assert np.abs(np.linalg.norm(vectors, axis=1) - 1).max() < 1e-6
    assert (await EMBEDDING.embed([], purpose="query")).shape == (0, 256)


@pytest.mark.parametrize(("query", "answer", "other"), TRIPLES)
def test_the_answer_is_nearer_than_another_sentence(query, answer, other):
    asked, near, far = BUILTIN.vectors([query, answer, other])
    assert asked @ near > asked @ far + 0.05


@given(st.lists(EVERY_STRING, min_size=1, max_size=6))
@settings(deadline=None)
def test_any_text_has_a_unit_vector_and_the_same_bits_alone_and_in_a_batch(texts):
    batch = BUILTIN.vectors(texts)
    assert np.isfinite(batch).all()
    assert np.abs(np.linalg.norm(batch, axis=1) - 1).max() < 1e-6
    for row, text in zip(batch, texts, strict=True):
        assert np.array_equal(row, BUILTIN.vectors([text])[0])


def test_two_instances_and_two_processes_agree_to_the_bit():
    texts = [triple[1] for triple in TRIPLES] + ["저는 초밥을 좋아해요", "", "😂", "\ud800"]
    here = hashlib.sha256(BuiltinEmbedding().vectors(texts).tobytes()).hexdigest()
    code = (
        "import hashlib, json, sys; from memhold.providers.embedding.builtin.model import BuiltinEmbedding;"
        "print(hashlib.sha256(BuiltinEmbedding().vectors(json.loads(sys.argv[1])).tobytes()).hexdigest())"
    )
    there = subprocess.run([sys.executable, "-c", code, json.dumps(texts)], capture_output=True, text=True, check=True)
    assert there.stdout.strip() == here


def test_word_order_and_the_way_of_counting_do_not_change_a_bit():
    words = " ".join(answer for _, answer, _ in TRIPLES).split()
    forward, backward = BUILTIN.vectors([" ".join(words), " ".join(reversed(words))])
    assert np.array_equal(forward, backward)
    # Repeating a text scales its sum by a power of two, so the path for long texts must give the very same vector.
    assert np.array_equal(forward, BUILTIN.vectors([" ".join(words * 1024)])[0])


@pytest.mark.parametrize("text", ["", " \n\t", "\x00\x07", "\u200b\ufe0f"])
def test_texts_without_a_piece_share_one_direction(text):
    assert np.array_equal(BUILTIN.vectors([text])[0], BUILTIN.vectors([""])[0])
    assert abs(BUILTIN.vectors([text])[0] @ BUILTIN.vectors(["a window seat"])[0]) < 0.3


@pytest.mark.parametrize(
    ("query", "same", "other"),
    [
        ("다슬기", "저는 다슬기를 좋아해요", "고양이가 창문에 앉아 있다"),
        ("渋谷", "来月は渋谷に行きます", "新しい自転車を買った"),
        ("Чебоксары", "Я живу в Чебоксарах", "Собака любит мяч"),
        ("กรุงเทพ", "ฉันอยู่กรุงเทพ", "แมวกินปลา"),
    ],
)
def test_scripts_the_teacher_cannot_read_match_by_their_letters(query, same, other):
    asked, near, far = BUILTIN.vectors([query, same, other])
    assert asked @ near > 0.2
    assert abs(asked @ far) < 0.15


def test_likes_and_dislikes_in_korean_are_not_the_same():
    likes, dislikes = BUILTIN.vectors(["좋아하는", "싫어하는"])
    assert likes @ dislikes < 0.8


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("Café", "cafe"),
        ("\uff29\uff30hone", "iphone"),
        ("naïve", "NAIVE"),
        ("finance", "\ufb01nance"),
        ("Ёлка", "елка"),
    ],
)
def test_case_accents_and_compatibility_forms_are_one(left, right):
    assert np.array_equal(*BUILTIN.vectors([left, right]))


def test_pieces_are_the_longest_match_and_unreadable_parts_become_grams():
    reader = PieceReader({piece: row for row, piece in enumerate(["un", "##aff", "##able", "##a", "iphone", "!", "s"])})
    read = reader.read("Unaffable! iPhone을 s unx 東京都")
    assert list(read.rows) == [0, 1, 2, 5, 4, 6]
    assert list(read.grams) == ["을", "<un", "unx", "nx>", "東京", "京都"]
    assert list(reader.read("!😀").symbols) == ["😀"]


def test_an_encoded_blob_does_not_drown_the_text_around_it():
    blob = hashlib.shake_128(b"blob").hexdigest(5000)
    plain, with_blob = BUILTIN.vectors(
        ["We moved the service to PostgreSQL", f"We moved the service to PostgreSQL {blob}"]
    )
    assert plain @ with_blob > 0.99


def test_the_table_is_mapped_and_small():
    size = sum(file.stat().st_size for file in BUILTIN_DIRECTORY.iterdir())
    assert size <= 8 * MEGABYTE
    embedding = BuiltinEmbedding()
    embedding.vectors(["open"])
    codes = embedding._table.codes
    while isinstance(codes.base, np.ndarray):
        codes = codes.base
    assert isinstance(codes.base, mmap.mmap)


def test_importing_and_naming_load_neither_numpy_nor_the_table():
    code = (
        "import sys; from memhold.providers.embedding.builtin.model import BuiltinEmbedding as B; b = B(); b.fingerprint;"
        "assert 'numpy' not in sys.modules and '_table' not in vars(b)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


async def test_tasks_share_one_instance():
    embedding = BuiltinEmbedding()
    texts = [answer for _, answer, _ in TRIPLES]
    found = await asyncio.gather(*(embedding.embed(texts * 20, purpose="document") for _ in range(4)))
    assert all(np.array_equal(found[0], other) for other in found[1:])


async def test_stores_of_one_process_read_the_table_once(monkeypatch):
    read = []
    array = BuiltinEmbedding._array
    monkeypatch.setattr(BuiltinEmbedding, "_array", lambda self, *told: read.append(told[0]) or array(self, *told))
    builtin_embedding.cache_clear()
    for text in ("Porridge with berries", "My sister plays the cello"):
        async with AsyncMemhold.open("memory://", worker=False) as memhold:
            alice = memhold.scope(user="alice")
            await alice.add([{"role": "user", "content": text}])
            await memhold.settle()
            assert (await alice.recall(text)).hits
    assert sorted(read) == ["codes.npy", "scales.npy"]


# ------------------------------------------------------------------------------------------------ damage


def test_the_shipped_table_is_whole_and_named_by_its_digest():
    BUILTIN.verify()
    described = json.loads((BUILTIN_DIRECTORY / "table.json").read_text())
    assert described["digest"][:16] in BUILTIN.fingerprint
    assert described["teacher"]["licence"] == "Apache-2.0"
    notice = (ROOT / "NOTICE").read_text()
    assert "all-MiniLM-L6-v2" in notice
    assert described["teacher"]["name"].rpartition("/")[2] in notice


@pytest.mark.parametrize("name", ["codes.npy", "scales.npy", "vocabulary.txt", "table.json"])
@pytest.mark.parametrize("damage", ["missing", "short", "long", "empty"])
async def test_a_file_of_another_size_is_refused_on_first_use(copy, name, damage):
    path = copy / name
    data = path.read_bytes()
    match damage:
        case "missing":
            path.unlink()
        case "short":
            path.write_bytes(data[:-7])
        case "long":
            path.write_bytes(data + b"}")
        case "empty":
            path.write_bytes(b"")
    with pytest.raises(ModelDamaged, match="reinstall") as caught:
        await BuiltinEmbedding(copy).embed(["text"], purpose="query")
    assert caught.value.path == str(path)
    assert caught.value.cls == "park"
    assert pickle.loads(pickle.dumps(caught.value)).expected == caught.value.expected  # noqa: S301


@pytest.mark.parametrize("name", ["codes.npy", "scales.npy"])
def test_a_header_that_says_something_else_is_refused(copy, name):
    path = copy / name
    path.write_bytes(path.read_bytes().replace(b"27745", b"27744", 1))
    with pytest.raises(ModelDamaged):
        BuiltinEmbedding(copy).vectors(["text"])


def test_scales_that_are_no_numbers_are_refused(copy):
    scales = np.load(copy / "scales.npy")
    scales[5] = np.nan
    np.save(copy / "scales.npy", scales)
    with pytest.raises(ModelDamaged, match="scales"):
        BuiltinEmbedding(copy).vectors(["text"])


@pytest.mark.parametrize("name", ["codes.npy", "scales.npy", "vocabulary.txt"])
def test_one_flipped_bit_is_found_by_verify(copy, name):
    data = bytearray((copy / name).read_bytes())
    data[len(data) // 2] ^= 1
    (copy / name).write_bytes(data)
    with pytest.raises(ModelDamaged, match="sha256"):
        BuiltinEmbedding(copy).verify()


def test_a_description_with_another_digest_is_found_by_verify(copy):
    described = json.loads((copy / "table.json").read_text())
    described["digest"] = "0" * 64
    (copy / "table.json").write_text(json.dumps(described))
    with pytest.raises(ModelDamaged, match="digest"):
        BuiltinEmbedding(copy).verify()


# ------------------------------------------------------------------------------------------------ the script


def test_the_script_refuses_another_teacher(tmp_path, capsys, monkeypatch):
    distill = script()
    folder = tmp_path / "teacher"
    folder.mkdir()
    (folder / "model.safetensors").write_bytes(b"not the teacher")
    (folder / "vocab.txt").write_text("the\n")
    wheel = tmp_path / "teacher.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.write(folder / "model.safetensors", "some/model/model.safetensors")
    for path in (folder, wheel, tmp_path / "nowhere"):
        with pytest.raises(distill.WrongTeacherError):
            distill.read_teacher(path)
    out = tmp_path / "out"
    monkeypatch.setattr(sys, "argv", ["distill", str(folder), "--out", str(out)])
    assert distill.main() == 1
    assert "refused" in capsys.readouterr().err
    assert not out.exists()


def test_what_the_script_writes_the_embedding_reads(tmp_path):
    distill = script()
    rows = np.random.default_rng(3).normal(size=(4, 256)) * np.array([[1.0], [0.01], [3.0], [1.0]])
    codes, scales = distill.quantised(rows)
    digest = distill.write_table(tmp_path, ["red", "green", "##s", "!"], codes, scales)
    again = distill.write_table(tmp_path / "again", ["red", "green", "##s", "!"], codes, scales)
    embedding = BuiltinEmbedding(tmp_path)
    embedding.verify()
    assert digest == again
    assert digest[:16] in embedding.fingerprint
    for text, wanted in [("red", rows[0]), ("GREEN", rows[1]), ("reds!", rows[0] + rows[2] + rows[3])]:
        assert embedding.vectors([text])[0] @ (wanted / np.linalg.norm(wanted)) > 0.999


def test_the_script_keeps_what_the_reader_can_ask_for():
    kept = script().kept
    assert [p for p in ["the", "##ing", "!", "##a", "œ", "2023", "€", "["] if not kept(p)] == []
    assert [p for p in ["[PAD]", "[unused5]", "##!", "東", "##ᄀ", "я", "\uff01", "²", "น"] if kept(p)] == []


def test_the_script_has_the_true_gelu():
    x = np.linspace(-8, 8, 2001, dtype=np.float32)
    exact = np.array([v * 0.5 * (1 + math.erf(v / 2**0.5)) for v in x.tolist()])
    assert np.abs(script().gelu(x) - exact).max() < 2e-6

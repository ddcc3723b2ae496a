"""Redaction: what is a secret, what only looks like one, and that none is stored, shown to a model or logged."""

from __future__ import annotations

import json
import logging
import re
import secrets
import string
import sys
import threading
from importlib.resources import files
from pathlib import Path
from random import Random
from typing import Any

import pytest

from memhold import AsyncMemhold, Memhold
from memhold.errors import IdempotencyConflict, InvalidSetting, SecretFound
from memhold.journal.secrets import SecretRedactor, _MarkedSecrets, known_secrets
from memhold.verbs.token_text import mint

RNG = Random(8)
REDACTOR = SecretRedactor("on")


def some(alphabet: str, length: int) -> str:
    return "".join(RNG.choices(alphabet, k=length))


WORD, LOWER, HEX = string.ascii_letters + string.digits, string.ascii_lowercase + string.digits, "0123456789abcdef"
PEM = f"-----BEGIN RSA PRIVATE KEY-----\n{some(WORD, 64)}\n{some(WORD, 64)}\n-----END RSA PRIVATE KEY-----"
JWT = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0." + some(WORD, 43)

# Made here, not real: the text around it, and the secret that must be gone.
SECRETS: dict[str, tuple[str, str]] = {
    "aws": ("the id is {} ok?", "AKIA" + some(string.ascii_uppercase + string.digits, 16)),
    "aws secret": ("aws_secret_access_key = '{}'", some(WORD, 40)),
    "azure": ("DefaultEndpointsProtocol=https;{};", "AccountKey=" + some(WORD, 86) + "=="),
    "basic auth": ("clone https://me:{}@git.example/repo", some(WORD, 16)),
    "discord": ("bot {}", "M" + some(WORD, 23) + "." + some(WORD, 6) + "." + some(WORD, 27)),
    "github": ("use {} please", "ghp_" + some(WORD, 36)),
    "github fine": ("use {} please", "github_pat_" + some(WORD, 60)),
    "gitlab": ("use {} please", "glpat-" + some(WORD, 20)),
    "jwt": ("header {} end", JWT),
    "bearer": ("curl -H 'Authorization: Bearer {}'", some(WORD, 40)),
    "mailchimp": ("{}", some(LOWER, 32) + "-us12"),
    "npm": ("//registry.npmjs.org/:_authToken={}", "npm_" + some(WORD, 36)),
    "openai": ("export KEY={}", "sk-proj-" + some(WORD, 20) + "T3BlbkFJ" + some(WORD, 20)),
    "anthropic": ("export KEY={}", "sk-ant-api03-" + some(WORD, 80)),
    "openai project": ("KEY: {}.", "sk-proj-" + some(WORD, 60)),
    "openrouter": ("say {} once", "sk-or-v1-" + some(HEX, 64)),
    "deepseek": ("say {} once", "sk-" + some(HEX, 31) + "7"),
    "groq": ("say {} once", "gsk_" + some(WORD, 52)),
    "mistral said": ("my mistral key is {}, keep it", "aB3" + some(WORD, 29)),
    "mistral": ('Mistral API Key: "{}"', "aB3" + some(WORD, 29)),
    "mistral in an environment": ("export KEY={}", "aB3" + some(WORD, 29)),
    "mistral in an error": ("Incorrect API key provided: {}.", "aB3" + some(WORD, 29)),
    "openai of old": ("say {} once", "sk-" + some(WORD, 20) + "T3BlbkFJ" + some(WORD, 20)),
    "google": ("key {}", "AIza" + some(WORD, 35)),
    "hugging face": ("{} is it", "hf_" + some(string.ascii_letters, 34)),
    "memhold": ("{} is it", mint(secrets.token_bytes)[1]),
    "pypi": ("{}", "pypi-AgEIcHlwaS5vcmc" + some(WORD, 80)),
    "sendgrid": ("{}", "SG." + some(WORD, 22) + "." + some(WORD, 43)),
    "slack": ("{}", "xoxb-123456789012-123456789012-" + some(LOWER, 24)),
    "square": ("{}", "sq0csp-" + some(WORD, 43)),
    "stripe": ("pay with {}", "sk_live_" + some(WORD, 24)),
    "telegram": ("{}", "123456789:" + some(WORD, 35)),
    "twilio": ("{}", "SK" + some(HEX, 32)),
    "private key": ("here:\n{}\nthanks", PEM),
    "private key cut off": ("here:\n{}", PEM[:120]),
    "private key in json": ('{{"key": "{}"}}', PEM.replace("\n", "\\n")),
    "password quoted": ('password = "{}"', "correcthorse"),
    "password in yaml": ("db:\n  user: me\n  password: {}\n  port: 1", "hunter2"),
    "password said": ("my password: {}, and the rest", "Tr0ub4dor&3"),
    "password in an environment": ("DB_PASSWORD={}\nHOST=x", "s3cr3t-9x"),
    "password in json": ('{{"user": "me", "password": "{}"}}', "correcthorse"),
    "api key": ("api_key: {}", some(HEX, 32)),
}  # fmt: skip

MISTRAL = [name for name in SECRETS if name.startswith("mistral")]

# What must stay as it is: talk, code, ids and hashes.
HARMLESS = [
    "The secret: HMAC-SHA256 with a key", 'token = "HS256"', 'api_key = "none"', '{"password": "undefined"}',
    "The secret: never give up.", "What is the secret of a good ramen? Patience!", "I forgot my password again :(",
    "Password must be at least 8 characters, secret questions too.", "password: ", 'password = ""', "password: ********",
    'api_key = os.environ["API_KEY"]', "password=getpass.getpass()", "PASSWORD=${DB_PASSWORD}", 'secret = "<your secret>"',
    'api_key_env = "ACME_KEY"', "secret_key = settings.SECRET_KEY", "pwd = self.config.password", "secret santa is Bob",
    "commit 9c1f0be2a3d4e5f60718293a4b5c6d7e8f901234", "sha256:" + some(HEX, 64), "id mem_0198c2f0a1b27c3e9d4f5a6b7c8d9e0f",
    "550e8400-e29b-41d4-a716-446655440000", "https://example.org/a/b?c=d#e", "mail me@example.org, see http://x:8080/a@b",
    "AKIA is a prefix; ghp_ too; sk-ant- as well", "a task-oriented risk-averse desk-bound plan, gsk_ and sk-learn", "ratio 12:34, at 10:45:00", "APARTMENT APPLICATIONS",
    "the token bucket holds 200 tokens", "비밀번호를 잊어버렸어요", "パスワードを忘れました", "key: value, key2: value2",
    "the cache key is 9c1f0be2a3d4e5f60718293a4b5c6d7e8f901234", "press any key 12345678901234567890123456789012",
    "eyJust kidding.really", "call_0 toolu_01AbCdEfGhIjKlMnOpQrStUv", "BEGIN PRIVATE conversation", "192.168.1.1",
]  # fmt: skip


@pytest.mark.parametrize("name", SECRETS)
def test_a_secret_is_found_and_only_it_is_replaced(name: str) -> None:
    around, secret = SECRETS[name]
    text = around.format(secret)
    cleaned, count = REDACTOR.redact(text)
    assert count == 1
    for start in range(12 if len(secret) > 40 else 0, len(secret) - 5, 3):
        assert secret[start : start + 6] not in cleaned
    before, _, after = around.format("\0").partition("\0")
    assert cleaned.startswith(before)
    assert cleaned.endswith(after)
    assert re.fullmatch(r"\[redacted: [\w -]+\]", cleaned.removeprefix(before).removesuffix(after))
    assert REDACTOR.redact(cleaned) == (cleaned, 0)


@pytest.mark.parametrize(
    "name", ["openai", "openai project", "openai of old", "anthropic", "openrouter", "deepseek", "groq", *MISTRAL]
)
def test_keys_of_the_catalogs_providers_are_known_without_the_library(name: str) -> None:
    around, secret = SECRETS[name]
    cleaned, count = _MarkedSecrets().redact(around.format(secret))
    assert (count, secret in cleaned) == (1, False)


@pytest.mark.parametrize("text", HARMLESS)
def test_what_only_looks_like_one_stays(text: str) -> None:
    assert REDACTOR.redact(text) == (text, 0)


def test_a_corpus_without_secrets_stays_nearly_as_it_is() -> None:
    """This project's own source and documents, and its demo: at most one find in a megabyte."""
    root = Path(__file__).parents[2]
    texts = [path.read_text("utf-8") for path in [*(root / "src").rglob("*.py"), *(root / "docs").rglob("*.md")]]
    texts.append(files("memhold").joinpath("data/demo_conversation.jsonl").read_text("utf-8"))
    found = [text[span.start : span.end] for text in texts for span in REDACTOR.spans(text)]
    assert sum(map(len, texts)) > 1_000_000
    assert len(found) <= sum(map(len, texts)) / 1_000_000, found


def test_many_secrets_and_those_inside_others() -> None:
    pieces = [around.format(secret) for name, (around, secret) in SECRETS.items() if "cut off" not in name]
    cleaned, count = REDACTOR.redact("\n\n".join(pieces))
    assert count >= len(pieces)
    assert [secret for _, secret in SECRETS.values() if secret in cleaned] == []
    key = SECRETS["openai"][1]
    assert REDACTOR.redact(f'password = "{key}"') == ('password = "[redacted: OpenAI Token]"', 1)


def test_pictures_are_passed_over() -> None:
    blob = "data:image/png;base64," + some(WORD + "+/", 6000) + SECRETS["aws"][1] + some(WORD, 3000)
    assert REDACTOR.redact(blob) == (blob, 0)


def test_threads_share_one() -> None:
    redactor = SecretRedactor("on")
    threads = [
        threading.Thread(target=lambda: [redactor.redact(a.format(s)) for a, s in SECRETS.values()]) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(redactor.counts.values()) == 4 * len(SECRETS)


# ------------------------------------------------------------------------------------------------ in the store

TOKEN = SECRETS["github"][1]
OTHER = SECRETS["stripe"][1]


def everywhere(token: str) -> list[dict[str, Any]]:
    """Messages of both shapes with a secret in every place that has text."""
    return [
        {"role": "user", "content": f"use {token}"},
        {"role": "user", "content": [{"type": "text", "text": f"parts: {token}"}], "metadata": {"note": [f"is {token}"]}},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {
                    "id": "call_0",
                    "type": "function",
                    "function": {"name": "login", "arguments": json.dumps({"user": "me", "password": "correcthorse"})},
                }
            ],
        },
        {"role": "tool", "tool_call_id": "call_0", "content": json.dumps({"api_key": token, "ok": True})},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "login", "input": {"pwd": "correcthorse"}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": f"got {token}"}]},
    ]  # fmt: skip


def files_with(folder: Path, text: str) -> list[str]:
    return [path.name for path in folder.rglob("*") if path.is_file() and text.encode() in path.read_bytes()]


def test_nothing_of_a_secret_is_stored_shown_or_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with Memhold.open(tmp_path / "memory.db", redaction="on") as mem:
        alice = mem.scope(user="alice", session="s")
        receipt = alice.add(everywhere(TOKEN), idempotency_key="k")
        assert receipt.redacted == 7
        # The fingerprint is over what the caller sent: the same again is a replay, another secret is not.
        assert alice.add(everywhere(TOKEN), idempotency_key="k").replayed
        with pytest.raises(IdempotencyConflict):
            alice.add(everywhere(OTHER), idempotency_key="k")
        told = [
            alice.remember(f"deploys with {TOKEN}", topics=[TOKEN], metadata={"password": "correcthorse"}),
            alice.remember(attribute="wifi password", value="correcthorse"),
            alice.remember(attribute="token", value=TOKEN, idempotency_key="f"),
        ]
        assert [one.receipt.redacted for one in told] == [3, 1, 1]
        assert told[1].memory is not None
        assert told[1].memory.value == "[redacted: Secret Keyword]"
        corrected = alice.correct(told[1].memory.id, "batterystaple")
        assert corrected.receipt.redacted == 1
        messages = alice.messages()
        arguments = messages[2].body["tool_calls"][0]["function"]["arguments"]
        assert json.loads(arguments) == {"user": "me", "password": "[redacted: Secret Keyword]"}
        assert json.loads(messages[3].body["content"])["ok"] is True
        assert messages[4].body["content"][0]["input"] == {"pwd": "[redacted: Secret Keyword]"}
        assert alice.recall("redacted GitHub Token").hits
        alice.end_session()
        mem.settle()
        alice.export(tmp_path / "alice.jsonl")
        status = alice.status()
        assert status.redacted == 7 + 5 + 1
        assert mem.scope(user="bob").status().redacted == 0
        for word in (TOKEN, "correcthorse", "batterystaple"):
            assert files_with(tmp_path, word) == []
    for word in (TOKEN, "correcthorse", "batterystaple"):
        assert word not in caplog.text


def test_a_secret_is_found_in_the_name_of_a_field_too(tmp_path: Path) -> None:
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": json.dumps({TOKEN: 1, OTHER: 2})}}
    with Memhold.open(tmp_path / "memory.db", redaction="on") as mem:
        alice = mem.scope(user="alice", session="s")
        said = {"role": "user", "content": "hi", "metadata": {TOKEN: {"deep": {OTHER: 1}}, "kept": 1}}
        assert alice.add([said, {"role": "assistant", "content": None, "tool_calls": [call]}]).redacted == 4
        assert alice.remember("note", metadata={TOKEN: 1, TOKEN[:-1] + "Z": 2}).receipt.redacted == 2
        assert alice.messages()[0].metadata["kept"] == 1
        assert sorted(alice.list().items[0].metadata.values()) == [1, 2]
    assert files_with(tmp_path, TOKEN[:-1]) + files_with(tmp_path, OTHER) == []


@pytest.mark.parametrize("depth", [100, 500, 700, 900, 20_000])
@pytest.mark.parametrize("unit", [('{"a":', "}"), ('{"a":[', "]}")])
def test_a_secret_deep_in_the_arguments_of_a_call_is_found(unit: tuple[str, str], depth: int) -> None:
    arguments = unit[0] * depth + json.dumps(TOKEN) + unit[1] * depth
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": arguments}}
    said = [{"role": "user", "content": "go"}, {"role": "assistant", "content": None, "tool_calls": [call]}]
    with Memhold.open("memory://", redaction="on", worker=False) as mem:
        alice = mem.scope(user="alice", session="s")
        assert alice.add(said).redacted == 1
        assert TOKEN not in repr(alice.messages())
    with Memhold.open("memory://", redaction="refuse", worker=False) as mem, pytest.raises(SecretFound):
        mem.scope(user="alice", session="s").add(said)


def test_an_import_is_redacted_too(tmp_path: Path) -> None:
    with Memhold.open(tmp_path / "old.db") as mem:
        alice = mem.scope(user="alice")
        alice.add(everywhere(TOKEN))
        alice.remember(f"deploys with {TOKEN}")
        alice.remember(attribute="wifi password", value="correcthorse")
        assert alice.add([{"role": "user", "content": TOKEN}]).redacted == 0
        alice.export(tmp_path / "alice.jsonl")
    (tmp_path / "new").mkdir()
    with Memhold.open(tmp_path / "new" / "memory.db", redaction="on") as mem:
        alice = mem.scope(user="alice")
        alice.import_file(tmp_path / "alice.jsonl")
        assert len(alice.list().items) == 2
    for word in (TOKEN, "correcthorse"):
        assert files_with(tmp_path / "new", word) == []


def test_refuse_stores_nothing_and_names_only_kind_and_place() -> None:
    with Memhold.open("memory://", redaction="refuse") as mem:
        alice = mem.scope(user="alice", session="s")
        messages = [{"role": "user", "content": "fine"}, *everywhere(TOKEN)[:1]]
        with pytest.raises(SecretFound) as caught:
            alice.add(messages)
        assert caught.value.values == {"kind": "GitHub Token", "place": "message 1"}
        for call in (
            lambda: alice.remember(f"x {TOKEN}"),
            lambda: alice.remember(attribute="wifi password", value="correcthorse"),
            lambda: alice.remember("fine", metadata={"a": [TOKEN]}),
        ):
            with pytest.raises(SecretFound) as found:
                call()
            assert TOKEN[:12] not in str(found.value) + repr(found.value.values)
        note = alice.remember("fine").memory
        assert note is not None
        with pytest.raises(SecretFound):
            alice.correct(note.id, TOKEN)
        assert alice.messages() == ()
        assert len(alice.list().items) == 1


def test_off_changes_nothing() -> None:
    with Memhold.open("memory://") as mem:
        alice = mem.scope(user="alice")
        assert alice.add(everywhere(TOKEN)).redacted == 0
        assert alice.messages()[0].body["content"] == f"use {TOKEN}"


def test_settings_are_checked_and_the_package_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with pytest.raises(InvalidSetting, match="off, on or refuse"):
        Memhold.open("memory://", redaction="yes")
    for name in ("detect_secrets", *(name for name in sys.modules if name.startswith("detect_secrets."))):
        monkeypatch.setitem(sys.modules, name, None)  # to Python it is not installed
    with pytest.raises(InvalidSetting, match=r"pip install 'memhold\[redaction\]'"):
        Memhold.open(tmp_path / "memory.db", redaction="on")
    assert not (tmp_path / "memory.db").exists()
    Memhold.open("memory://").close()


def test_without_the_library_marked_secrets_are_known_still(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("detect_secrets", *(name for name in sys.modules if name.startswith("detect_secrets."))):
        monkeypatch.setitem(sys.modules, name, None)
    known_secrets.cache_clear()
    redactor = known_secrets()
    known_secrets.cache_clear()
    key = "-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----"
    text, found = redactor.redact(f"use sk-ant-{'a' * 30} and {key}, not the password hunter2")
    assert (text, found) == (
        "use [redacted: Anthropic API Key] and [redacted: Private Key], not the password hunter2",
        2,
    )
    assert redactor.redact("nothing here") == ("nothing here", 0)


async def test_what_takes_long_to_look_through_holds_nobody_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ninety thousand names of metadata held a server's event loop for more than a second."""
    looked: set[int] = set()
    spans = SecretRedactor.spans

    def noting(self: SecretRedactor, text: str, name: str = "") -> Any:
        looked.add(threading.get_ident())
        return spans(self, text, name)

    async with AsyncMemhold.open("memory://", worker=False, embedding="none", redaction="on") as mem:
        alice = mem.scope(user="alice")
        told = await alice.remember("Likes tea", attribute=None)
        fact = await alice.remember(attribute="city", value="Lisbon")
        monkeypatch.setattr(SecretRedactor, "spans", noting)
        many = {"password": "Zx81Qp0mWv7t", **{f"name {number}": "x" for number in range(1000)}}
        kept = await alice.remember("Likes coffee", metadata=many)
        long = "word " * 10_000
        await alice.remember(long)
        await alice.correct(fact.memory.id, long[:20_000])
        assert threading.get_ident() not in looked
        assert looked
        assert "Zx81Qp0mWv7t" not in repr(kept.memory.metadata)
        assert kept.receipt.redacted == 1
        assert told.receipt.redacted == 0

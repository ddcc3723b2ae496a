"""The catalog: what ships, what a file of one's own changes, and what loading says about both."""

from __future__ import annotations

import pytest

from memhold.errors import InvalidSetting
from memhold.providers.catalog import CHAINS, load_catalog
from memhold.providers.entry import Entry, endpoint, guess_protocol, host_of, is_local


def codes(catalog):
    return {(note.level, note.model, note.code) for note in catalog.notes}


def faults(text):
    with pytest.raises(InvalidSetting) as caught:
        load_catalog("", text)
    return str(caught.value)


MINIMAL = '[models.m]\nmodel = "x"\nbase_url = "http://127.0.0.1:9"\n'


def test_the_shipped_chains():
    catalog = load_catalog()
    assert [entry.name for entry in catalog.chain("conversation")] == ["claude-sonnet-4-6", "claude-sonnet-4-5"]
    groq = ["llama-3.3-70b-versatile", "qwen3-32b", "llama-4-scout"]
    assert [entry.name for entry in catalog.chain("consolidation")] == groq
    assert {entry.name for entry in catalog.models.values() if entry.hidden} == set(groq)
    assert not set(groq) & {entry.name for entry in catalog.visible()}
    assert set(catalog.chains) == set(CHAINS)
    assert catalog.chain("embeddings")[0].embeds
    assert [note for note in catalog.notes if note.level != "info"] == []


def test_no_shipped_entry_falls_back_to_another_vendor():
    catalog = load_catalog()
    for entry in catalog.models.values():
        keys = {link.api_key_env for link in catalog.chain(entry.name)}
        assert keys == {entry.api_key_env}, f"{entry.name} would send a conversation to a vendor nobody named"


@pytest.mark.parametrize(
    ("name", "speed", "price_in", "price_out"),
    [
        ("llama-3.3-70b-versatile", 394, 0.59, 0.79),
        ("qwen3-32b", 662, 0.29, 0.59),
        ("llama-4-scout", 594, 0.11, 0.34),
        ("gpt-4.1-mini", 150, 0.40, 1.60),
    ],
)
def test_the_shipped_figures(name, speed, price_in, price_out):
    entry = load_catalog().models[name]
    assert (entry.speed, entry.price_in, entry.price_out) == (speed, price_in, price_out)
    assert entry.cost(1_000_000, 1_000_000) == pytest.approx(price_in + price_out)


@pytest.mark.parametrize(
    ("name", "url", "local"),
    [
        ("ollama", "http://127.0.0.1:11434", True),
        ("bge-m3", "http://127.0.0.1:11434", True),
        ("lmstudio", "http://127.0.0.1:1234/v1", True),
        ("text-embedding-qwen3-embedding-8b", "http://127.0.0.1:1234/v1", True),
        ("vllm", "http://127.0.0.1:8000/v1", True),
        ("llamacpp", "http://127.0.0.1:8080/v1", True),
        ("openrouter", "https://openrouter.ai/api/v1", False),
    ],
)
def test_the_shipped_servers(name, url, local):
    entry = load_catalog().models[name]
    assert (entry.base_url, entry.served_locally) == (url, local)
    assert entry.deadline == (180.0 if local else 30.0)


def test_a_file_of_ones_own_is_laid_over_entry_by_entry():
    own = """
    [chains]
    consolidation = "mine"
    [models.mine]
    model = "m"
    base_url = "http://127.0.0.1:9"
    fallback = "gpt-4.1-mini"
    [models."gpt-4.1-mini"]
    timeout = 12
    fallback = ""
    """
    catalog = load_catalog(user=own)
    links = catalog.chain("consolidation")
    assert [entry.name for entry in links] == ["mine", "gpt-4.1-mini"]
    assert (links[1].deadline, links[1].api_key_env, links[1].price_in) == (12.0, "OPENAI_API_KEY", 0.40)
    assert [entry.name for entry in catalog.chain("conversation")] == ["claude-sonnet-4-6", "claude-sonnet-4-5"]


def test_a_cycle_is_legal_reported_once_and_walked_once():
    text = MINIMAL + 'fallback = "n"\n[models.n]\nmodel = "y"\nbase_url = "http://127.0.0.1:9"\nfallback = "m"\n'
    catalog = load_catalog("", text)
    assert [entry.name for entry in catalog.chain("m")] == ["m", "n"]
    assert [entry.name for entry in catalog.chain("n")] == ["n", "m"]
    assert [note.code for note in catalog.notes].count("cycle") == 1
    alone = load_catalog("", MINIMAL + 'fallback = "m"\n')
    assert [entry.name for entry in alone.chain("m")] == ["m"]


def test_an_unset_key_variable_is_named():
    text = MINIMAL + 'api_key_env = "ACME_KEY"\n'
    notes = [note for note in load_catalog("", text, environment={}).notes if note.code == "key-not-set"]
    assert len(notes) == 1
    assert "ACME_KEY" in notes[0].text
    assert not [n for n in load_catalog("", text, environment={"ACME_KEY": "k"}).notes if n.code == "key-not-set"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (MINIMAL + 'fallback = "nobody"\n', "'nobody'"),
        ('[models.m]\nmodel = "x"\nprotocol = "openai-chat"\n', "`base_url` is missing"),
        ('[models.m]\nmodel = "x"\n', "`base_url` is missing"),
        ('[models.m]\nbase_url = "http://x"\n', "`model` is missing"),
        (MINIMAL + 'protocol = "telepathy"\n', "'telepathy'"),
        (MINIMAL + 'api_key = "sk-123"\n', "api_key_env"),
        (MINIMAL + "context_window = -1\n", "context_window"),
        (MINIMAL + 'hidden = "yes"\n', "hidden"),
        (MINIMAL + 'price_in = "cheap"\n', "price_in"),
        ("models = 3", "tables"),
        ("[models.m", "not valid TOML"),
        ('[chains]\nconversation = "nobody"\n', "'nobody'"),
        (MINIMAL + '[chains]\nembeddings = "m"\n', "other kind"),
        (MINIMAL + 'fallback = "e"\n[models.e]\nmodel = "bge-m3"\nbase_url = "http://x"\n', "not of both"),
        ('[models.m]\nmodel = "x"\nbase_url = "example.com/v1"\n', "http://"),
    ],
)
def test_what_cannot_be_used_is_refused_with_words(text, says):
    assert says in faults(text)


def test_every_fault_is_told_at_once():
    said = faults('[models.a]\n[models.b]\nmodel = "x"\nprotocol = "telepathy"\n')
    assert "a: `model`" in said
    assert "b: no protocol" in said


def test_what_is_only_odd_is_noted():
    text = """
    [models.m]
    model = "claude-x"
    protocol = "openai-chat"
    base_url = "https://api.anthropic.com"
    contxt_window = 5
    """
    catalog = load_catalog("", text)
    assert ("warning", "m", "protocol-disagrees") in codes(catalog)
    assert ("warning", "m", "unknown-field") in codes(catalog)
    assert "context_window" in next(note.text for note in catalog.notes if note.code == "unknown-field")


def test_an_unknown_chain_says_which_there_are():
    with pytest.raises(InvalidSetting, match="consolidation"):
        load_catalog().chain("consolidatoin")


# ------------------------------------------------------------------------------------------------ URLs


@pytest.mark.parametrize(
    "base", ["http://x", "http://x/", "http://x/v1", "http://x/v1/", "http://x/v1/chat/completions"]
)
def test_a_base_url_with_or_without_its_version(base):
    assert endpoint(base, "/chat/completions") == "http://x/v1/chat/completions"


def test_a_url_that_was_copied_whole_leads_to_every_path():
    assert endpoint("http://x/v1/chat/completions", "/models") == "http://x/v1/models"
    assert endpoint("http://x/v1/embeddings/", "/chat/completions") == "http://x/v1/chat/completions"
    assert endpoint("http://x/v1/chat/completions?k=v", "/embeddings") == "http://x/v1/embeddings?k=v"
    assert endpoint("https://x/models", "/chat/completions") == "https://x/models/v1/chat/completions"  # Azure's


@pytest.mark.parametrize(
    ("base", "url"),
    [
        ("https://openrouter.ai/api", "https://openrouter.ai/api/v1/chat/completions"),
        ("https://g.com/v1beta/openai/", "https://g.com/v1beta/openai/chat/completions"),
        ("https://z.ai/api/paas/v4", "https://z.ai/api/paas/v4/chat/completions"),
        (
            "https://a.openai.azure.com/openai/deployments/d?api-version=1",
            "https://a.openai.azure.com/openai/deployments/d/chat/completions?api-version=1",
        ),
    ],
)
def test_other_versions_are_kept(base, url):
    assert endpoint(base, "/chat/completions") == url


@pytest.mark.parametrize("base", ["http://h:11434", "http://h:11434/", "http://h:11434/v1", "http://h:11434/api"])
def test_ollamas_own_api_is_found_from_any_of_its_urls(base):
    assert endpoint(base, "/api/chat", version="") == "http://h:11434/api/chat"


@pytest.mark.parametrize(
    ("base", "model", "protocol"),
    [
        ("https://api.anthropic.com", "claude-x", "anthropic-messages"),
        ("https://gw/anthropic", "x", "anthropic-messages"),
        (None, "claude-x", "anthropic-messages"),
        (None, "gpt-x", None),
        ("http://127.0.0.1:11434", "llama", "ollama-chat"),
        ("http://127.0.0.1:11434", "bge-m3", "ollama-embeddings"),
        ("http://127.0.0.1:11434/v1", "llama", "openai-chat"),
        ("http://127.0.0.1:1234", "text-embedding-x", "openai-embeddings"),
        ("https://api.groq.com/openai/v1", "llama", "openai-chat"),
    ],
)
def test_a_missing_protocol_is_detected(base, model, protocol):
    assert guess_protocol(base, model) == protocol


def test_local_and_hosts():
    for url in (
        "http://localhost:1",
        "http://127.0.0.1",
        "http://[::1]:2",
        "http://192.168.1.4",
        "http://mac.local:1234",
    ):
        assert is_local(url), url
    for url in ("https://api.openai.com", "http://8.8.8.8", None, "http://["):
        assert not is_local(url), url
    assert host_of("HTTP://LocalHost:1234/v1") == "localhost:1234"


def test_costs_without_a_price_are_not_known():
    entry = Entry(name="m", protocol="openai-chat", model="m", price_in=1.0)
    assert entry.cost(10, 0) == pytest.approx(1e-5)
    assert entry.cost(10, 5) is None

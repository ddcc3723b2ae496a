"""Exact counts by the vocabulary of the model's family, the family's estimate or the general one where there is none."""

import json
from pathlib import Path

import pytest

from memhold import AsyncMemhold
from memhold.errors import InvalidInput
from memhold.providers.vocabularies import family_of, tokenizer_of
from memhold.text.token_estimate import FAMILIES, estimate_for, estimate_message, estimate_tokens

RECORDED = Path(__file__).parents[2] / "benchmarks" / "token_counts.json"
CASES = json.loads(RECORDED.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("model", "family"),
    [
        ("gpt-5", "o200k_base"),
        ("openai/gpt-4o-mini", "o200k_base"),
        ("GPT-4.1", "o200k_base"),
        ("o3", "o200k_base"),
        ("o4-mini", "o200k_base"),
        ("openai/gpt-oss-120b", "o200k_base"),
        ("gpt-4", "cl100k_base"),
        ("gpt-4-turbo", "cl100k_base"),
        ("gpt-3.5-turbo", "cl100k_base"),
        ("meta-llama/Llama-3.3-70B-Instruct", "llama3"),
        ("llama3.2:3b", "llama3"),
        ("ministral-8b-latest", "tekken"),
        ("claude-2.1", "claude2"),
        ("llama-4-scout", None),
        ("claude-opus-4", None),
        ("gemini-3", None),
        ("olmo-2", None),
        ("", None),
    ],
)
def test_the_family_of_a_model(model, family):
    assert family_of(model) == family
    found = tokenizer_of(model)
    exact = family in {None, "o200k_base", "cl100k_base"}
    assert (found and found[0]) == (family if exact else f"{family}, estimated")


@pytest.mark.parametrize("name", CASES)
def test_the_tokenizers_count_what_was_recorded(name):
    for model, column in (("gpt-5", "o200k"), ("gpt-4", "cl100k")):
        _, count = tokenizer_of(model)
        assert count(CASES[name]["text"]) == CASES[name]["counts"][column] <= estimate_tokens(CASES[name]["text"])


def test_any_text_can_be_counted():
    _, count = tokenizer_of("gpt-5")
    assert count("") == 0
    assert count("<|endoftext|>") > 1, "what looks like a special token is text"
    assert count("\ud800 alone") > 1


@pytest.mark.parametrize("how", ["argument", "setting"])
async def test_a_context_is_counted_by_the_models_tokenizer(how):
    _, count = tokenizer_of("gpt-5")
    settings, asked = ({}, {"model": "gpt-5"}) if how == "argument" else ({"context_model": "gpt-5"}, {})
    async with AsyncMemhold.open("memory://", worker=False, **settings) as opened:
        alice = opened.scope(user="alice", session="s")
        await alice.add(
            [{"role": "user", "content": f"{number} 지난주에 이사한 뒤로 늘었어요"} for number in range(200)]
        )
        new = {"role": "user", "content": "and?"}
        exact = await alice.context(new, budget=2000, strategy="full_history", **asked)
        rough = await alice.context(new, budget=2000, strategy="full_history", model="")
        assert (exact.tokenizer, rough.tokenizer) == ("o200k_base", "estimate")
        assert exact.used == sum(estimate_message(one, count) for one in exact.messages) <= 1900
        assert exact.used > 1750 * 2 / 3
        assert len(exact.messages) > 1.2 * len(rough.messages), "what is counted exactly holds more"
        with pytest.raises(InvalidInput):
            await alice.context(new, model=7)


@pytest.mark.parametrize("family", FAMILIES)
def test_the_estimate_of_a_family_is_within_a_tenth_on_average(family):
    counts = [(estimate_for(family)(case["text"]), case["counts"][family]) for case in CASES.values()]
    assert abs(sum(guess for guess, _ in counts) / sum(real for _, real in counts) - 1) < 0.1
    assert estimate_for(family)("") == 0


async def test_the_users_own_conversation_chain_names_the_family(tmp_path):
    for name, fallback, told in (("one", "", "o200k_base"), ("two", "claude-sonnet-4-6", "estimate")):
        models = tmp_path / f"{name}.toml"
        models.write_text(
            '[chains]\nconversation = "mine"\n[models.mine]\nprotocol = "openai-chat"\nmodel = "gpt-5"\n'
            f'label = "Mine"\nbase_url = "http://127.0.0.1:9/v1"\nfallback = "{fallback}"\n'
        )
        async with AsyncMemhold.open("memory://", worker=False, models=str(models)) as opened:
            context = await opened.scope(user="a").context({"role": "user", "content": "and?"})
            assert context.tokenizer == told


async def test_without_the_library_the_familys_estimate_counts(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "bpe_openai", None)
    from memhold.providers import vocabularies

    vocabularies._counter.cache_clear()
    try:
        async with AsyncMemhold.open("memory://", worker=False) as opened:
            context = await opened.scope(user="a").context({"role": "user", "content": "and?"}, model="gpt-5")
            assert context.tokenizer == "o200k_base, estimated"
    finally:
        vocabularies._counter.cache_clear()

"""Hypothesis strategies for histories as agents really leave them: valid, interrupted, shuffled and truncated."""

from hypothesis import strategies as st

WORDS = st.sampled_from(["hello", "what is due?", "여름 휴가", "done ", "ok\n", "日本", "a b", "no"])
BLANKS = st.sampled_from(["", " ", "\n\t"])
MAYBE_BLANK = st.one_of(WORDS, WORDS, WORDS, WORDS, BLANKS)
IDS = st.sampled_from(["call_0", "call_0", "call_1", "call_2", "toolu_9"])
BAD_IDS = st.one_of(IDS, IDS, IDS, IDS, st.sampled_from(["", "a b", None, "call_0_2", "call_" + "x" * 50]))
IMAGE = {"openai": {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}}}
IMAGE["anthropic"] = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}}


def text(value):
    return {"type": "text", "text": value}


def user(shape, words=MAYBE_BLANK):
    as_parts = st.lists(st.one_of(words.map(text), st.just(IMAGE[shape])), max_size=3)
    named = st.sampled_from([{}, {}, {}, {"name": "Ada B."}]) if words is MAYBE_BLANK else st.just({})
    return st.builds(
        lambda content, more: {"role": "user", "content": content, **more}, st.one_of(words, as_parts), named
    )


def system(shape, *, odd=True):
    role = st.sampled_from(["system", "developer"]) if shape == "openai" else st.just("system")
    blank = st.sampled_from([None, "", []])
    said = WORDS if not odd else st.one_of(WORDS, WORDS, WORDS, WORDS, blank)
    return st.builds(lambda role, content: {"role": role, "content": content}, role, said)


ODD = st.integers(0, 7).map(lambda number: number == 0)
"""Now and then."""
OUTPUT = st.one_of(MAYBE_BLANK, MAYBE_BLANK, MAYBE_BLANK, st.just([text("seen"), IMAGE["openai"]]))


@st.composite
def openai_call(draw, identity):
    """A call, now and then of another kind, without a type, with arguments as an object, or with no legal name."""
    if draw(ODD):
        return {
            "id": identity,
            "type": "custom",
            "custom": {"name": "shell", "input": draw(st.sampled_from(["ls", None]))},
        }
    name = draw(st.sampled_from(["look", "look", "look", "look.at it", None]))
    function = {"name": name, "arguments": draw(st.sampled_from(["{}", "{}", {"a": 1}]))}
    return {"id": identity, "function": function} | ({} if draw(ODD) else {"type": "function"})


@st.composite
def openai_turn(draw):
    """An assistant's call with results missing, doubled, shuffled, foreign, or parted by a system message."""
    ids = draw(st.lists(BAD_IDS, min_size=1, max_size=3))
    calls = [draw(openai_call(one)) for one in ids]
    content = draw(st.one_of(st.none(), MAYBE_BLANK, st.just([])))
    results = draw(
        st.permutations([*ids, *draw(st.lists(BAD_IDS, max_size=1)), *draw(st.lists(st.sampled_from(ids), max_size=1))])
    )
    results = results[: draw(st.integers(0, len(results)))]
    said = [{"role": "tool", "tool_call_id": one, "content": draw(OUTPUT)} for one in results]
    turn = [{"role": "assistant", "content": content, "tool_calls": calls}, *said]
    if draw(st.booleans()):
        turn.insert(draw(st.integers(1, len(turn))), draw(system("openai")))
    return turn


@st.composite
def legacy_turn(draw):
    called = {
        "name": draw(st.sampled_from(["look", "look", None])),
        "arguments": draw(st.sampled_from(["{}", {"a": 1}])),
    }
    turn = [{"role": "assistant", "content": None, "function_call": called}]
    if draw(st.booleans()):
        turn.append(
            {"role": "function", "name": draw(st.sampled_from(["look", "other"])), "content": draw(MAYBE_BLANK)}
        )
    return turn


@st.composite
def openai_reply(draw):
    message = {"role": "assistant", "content": draw(st.one_of(MAYBE_BLANK, st.none()))}
    return [{**message, **draw(st.sampled_from([{}, {}, {"tool_calls": None}, {"tool_calls": []}, {"refusal": "no"}]))}]


@st.composite
def anthropic_turn(draw):
    ids = draw(st.lists(BAD_IDS, min_size=1, max_size=3))
    name = draw(st.sampled_from(["look", "look", "look", None, ""]))
    blocks = [{"type": "tool_use", "id": one, "name": name, "input": {}} for one in ids]
    if draw(st.booleans()):
        signed = {"signature": draw(st.sampled_from(["s", "s", ""]))} if draw(st.booleans()) else {}
        blocks.insert(0, {"type": "thinking", "thinking": "hm", **signed})
    if draw(ODD):
        blocks.insert(0, IMAGE["anthropic"])
    if draw(st.booleans()):
        blocks.insert(draw(st.integers(0, len(blocks))), text(draw(MAYBE_BLANK)))
    if draw(st.integers(0, 4)) == 0:
        blocks.insert(0, {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}})
    if draw(st.integers(0, 4)) == 0:
        blocks.insert(1, {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []})
    given_back = draw(st.permutations([*ids, *draw(st.lists(BAD_IDS, max_size=1))]))
    results = []
    for one in given_back[: draw(st.integers(0, len(given_back)))]:
        inner = draw(st.one_of(st.none(), MAYBE_BLANK, st.lists(MAYBE_BLANK.map(text), max_size=2)))
        failed = {"is_error": True} if draw(ODD) else {}
        results.append({"type": "tool_result", "tool_use_id": one, "content": inner, **failed})
    if draw(st.integers(0, 2)) == 0:
        results.insert(draw(st.integers(0, len(results))), text(draw(MAYBE_BLANK)))
    parted = draw(st.integers(0, len(results)))
    users = [{"role": "user", "content": part} for part in (results[:parted], results[parted:]) if part]
    turn = [{"role": "assistant", "content": blocks}, *users]
    if draw(st.booleans()):
        turn.insert(draw(st.integers(1, len(turn))), draw(system("anthropic")))
    return turn


@st.composite
def anthropic_reply(draw):
    thinking = {"type": "thinking", "thinking": "hm", "signature": "s"}
    blocks = st.lists(st.one_of(MAYBE_BLANK.map(text), st.just(thinking)), max_size=3)
    return [{"role": "assistant", "content": draw(st.one_of(MAYBE_BLANK, blocks))}]


def alone(strategy):
    return strategy.map(lambda message: [message])


@st.composite
def histories(draw, shape):
    """Any history, cut at any place at either end."""
    pieces = [alone(user(shape)), alone(user(shape)), alone(system(shape))]
    own = {
        "openai": [openai_turn(), openai_turn(), openai_reply(), legacy_turn()],
        "anthropic": [anthropic_turn(), anthropic_turn(), anthropic_reply()],
    }
    turns = draw(st.lists(st.one_of(*pieces, *own[shape]), max_size=7))
    messages = [message for turn in turns for message in turn]
    first = draw(st.integers(0, len(messages)))
    last = draw(st.integers(first, len(messages)))
    return messages[first:last] if draw(st.booleans()) else messages


@st.composite
def valid_openai(draw):
    """A history that needs no repair: every call answered at once, ids repeating from turn to turn."""
    messages = draw(st.lists(system("openai", odd=False), max_size=2))
    for _ in range(draw(st.integers(1, 5))):
        messages.append(draw(user("openai", WORDS).filter(lambda one: one["content"])))
        for _ in range(draw(st.integers(0, 2))):
            ids = [f"call_{number}" for number in range(draw(st.integers(1, 3)))]
            calls = [{"id": one, "type": "function", "function": {"name": "look", "arguments": "{}"}} for one in ids]
            messages.append({"role": "assistant", "content": draw(st.one_of(st.none(), WORDS)), "tool_calls": calls})
            results = draw(st.permutations([*ids, *draw(st.lists(st.sampled_from(ids), max_size=1))]))
            messages += [{"role": "tool", "tool_call_id": one, "content": draw(WORDS)} for one in results]
        messages.append({"role": "assistant", "content": draw(WORDS)})
    return messages


@st.composite
def valid_anthropic(draw):
    messages = []
    number = 0
    for _ in range(draw(st.integers(1, 5))):
        messages.append(draw(user("anthropic", WORDS).filter(lambda one: one["content"])))
        for _ in range(draw(st.integers(0, 2))):
            ids = [f"toolu_{(number := number + 1)}" for _ in range(draw(st.integers(1, 3)))]
            blocks = [{"type": "tool_use", "id": one, "name": "look", "input": {}} for one in ids]
            lead = draw(st.sampled_from([[], [{"type": "thinking", "thinking": "hm", "signature": "s"}], [text("so")]]))
            messages.append({"role": "assistant", "content": [*lead, *blocks]})
            order = draw(st.permutations(ids))
            results = [{"type": "tool_result", "tool_use_id": one, "content": draw(WORDS)} for one in order]
            messages.append({"role": "user", "content": [*results, *draw(st.lists(WORDS.map(text), max_size=1))]})
        messages.append({"role": "assistant", "content": draw(WORDS).strip()})
    return messages


VALID = {"openai": valid_openai(), "anthropic": valid_anthropic()}

"""What the two message shapes demand, written from the providers' documents alone; shares nothing with the repair.

OpenAI: Chat Completions reference, function calling guide. Anthropic: Messages reference, "Handle tool calls", and in
the strict reading in which roles alternate. System messages of the Anthropic shape are lifted out before the check.
"""

import re


def says_something(content):
    if content is None:
        return False
    if isinstance(content, str):
        return content.strip() != ""
    return any(part["type"] != "text" or part["text"].strip() for part in content)


def openai_faults(messages, *, open_end=False):
    faults = []
    expected = []  # ids that still wait for a result
    allowed = set()  # ids that a result may name here
    names = set()
    legacy_waits = False
    for at, message in enumerate(messages):
        role = message["role"]
        if role == "tool":
            if message.get("tool_call_id") not in allowed:
                faults.append(f"{at}: tool message answers no call of the preceding assistant")
            expected = [one for one in expected if one != message.get("tool_call_id")]
        elif role == "function":
            if message.get("name") not in names:
                faults.append(f"{at}: function message answers no function_call")
            legacy_waits = False
        elif open_end and all(one["role"] in {"system", "developer"} for one in messages[at:]):
            continue  # it stands behind a call that may still be answered
        else:
            if expected or legacy_waits:
                faults.append(f"{at}: calls {expected} were not answered at once")
            expected, allowed, names, legacy_waits = [], set(), set(), False
        faults += openai_body_faults(at, message) + media_faults(at, message)
        if role == "assistant":
            expected = [call.get("id") for call in message.get("tool_calls") or []]
            allowed = set(expected)
            if len(allowed) != len(expected):
                faults.append(f"{at}: two calls share an id")
            if message.get("function_call"):
                names, legacy_waits = {message["function_call"]["name"]}, True
    if (expected or legacy_waits) and not open_end:
        faults.append("the last call was not answered")
    return faults


def openai_body_faults(at, message):
    faults = []
    if "tool_calls" in message and not message["tool_calls"]:
        faults.append(f"{at}: tool_calls is null or empty")
    if "function_call" in message and not message["function_call"]:
        faults.append(f"{at}: function_call is null")
    calls = message.get("tool_calls") or message.get("function_call")
    if message.get("content") == []:
        faults.append(f"{at}: an empty list of parts")
    if not says_something(message.get("content")) and not calls and not message.get("refusal"):
        faults.append(f"{at}: nothing is said")
    for call in message.get("tool_calls") or []:
        faults += [] if 0 < len(call.get("id") or "") <= 40 else [f"{at}: a call without id, or with one over 40"]
        if call.get("type") not in {"function", "custom"}:
            faults.append(f"{at}: a call of no type")
            continue
        held, said = ("custom", "input") if call["type"] == "custom" else ("function", "arguments")
        faults += called_faults(at, call.get(held), said)
    if message.get("function_call"):
        faults += called_faults(at, message["function_call"], "arguments")
    if "name" in message and not re.fullmatch(r"[^\s<|\\/>]+", str(message["name"] or "")):
        faults.append(f"{at}: a speaker's name that is none")
    return faults


def called_faults(at, called, said):
    name = (called or {}).get("name") or ""
    legal = re.fullmatch("[a-zA-Z0-9_-]+", name)
    return ([] if legal else [f"{at}: a call of {name!r}"]) + (
        [] if isinstance((called or {}).get(said), str) else [f"{at}: {said} that are no text"]
    )


def media_faults(at, message):
    content = message.get("content")
    kinds = {part["type"] for part in content} if isinstance(content, list) else set()
    shown = kinds & {"image_url", "input_audio", "file"}
    return [f"{at}: {sorted(shown)} of the {message['role']}"] if shown and message["role"] != "user" else []


def anthropic_faults(messages, *, open_end=False):
    faults = []
    turns = [message for message in messages if message["role"] != "system"]
    if turns and turns[0]["role"] != "user":
        faults.append("the first message is not a user's")
    for at, message in enumerate(messages[1:], start=1):
        still_open = open_end and all(one["role"] == "system" for one in messages[at:])
        if message["role"] == "system" and uses(messages[at - 1]) and not still_open:
            faults.append(f"{at}: a system message behind a call")
    seen = set()
    served = set()
    for at, turn in enumerate(turns):
        before = turns[at - 1] if at else None
        if before is not None and before["role"] == turn["role"]:
            faults.append(f"{at}: two messages of the {turn['role']} in a row")
        blocks = parts(turn)
        if not blocks:
            faults.append(f"{at}: empty content")
        asked = uses(before) if before is not None else []
        kinds = [block["type"] for block in blocks]
        answers = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        if turn["role"] == "assistant" and (answers or kinds[-1:] in (["thinking"], ["redacted_thinking"])):
            faults.append(f"{at}: a result, or thinking at the end, in the assistant's message")
        if turn["role"] == "user" and "tool_use" in kinds:
            faults.append(f"{at}: a call in the user's message")
        if kinds[: len(answers)] != ["tool_result"] * len(answers):
            faults.append(f"{at}: results do not come first")
        if len(set(answers)) != len(answers) or set(answers) - set(asked):
            faults.append(f"{at}: results {answers} for the calls {asked}")
        if set(asked) - set(answers) and not (open_end and at == len(turns) - 1):
            faults.append(f"{at}: calls {asked} without results")
        for one in uses(turn):
            if one in seen or not re.fullmatch("[a-zA-Z0-9_-]+", one or ""):
                faults.append(f"{at}: id {one} is not unique or not legal")
            seen.add(one)
        faults += text_faults(at, turn, last=at == len(turns) - 1)
        faults += block_faults(at, turn)
        for block in blocks:
            if block["type"] == "server_tool_use":
                served.add(block["id"])
            elif block["type"] == "web_search_tool_result" and block["tool_use_id"] not in served:
                faults.append(f"{at}: a server tool's result behind no use")
    if turns and uses(turns[-1]) and not open_end:
        faults.append("the last call was not answered")
    return faults


OF_ASSISTANT = {"tool_use", "thinking", "redacted_thinking", "server_tool_use", "web_search_tool_result"}
OF_USER = {"tool_result", "image", "document"}


def block_faults(at, turn):
    faults = [f"{at}: the key {key} is not permitted" for key in turn if key not in {"role", "content"}]
    for block in parts(turn):
        kind = block["type"]
        if kind in (OF_USER if turn["role"] == "assistant" else OF_ASSISTANT):
            faults.append(f"{at}: {kind} of the {turn['role']}")
        if kind == "tool_use" and not (block.get("name") and isinstance(block["name"], str)):
            faults.append(f"{at}: a call of nothing")
        if kind == "thinking" and not block.get("signature"):
            faults.append(f"{at}: thinking without a signature")
        if kind == "tool_result" and "content" in block and block["content"] is None:
            faults.append(f"{at}: a result of null")
        if kind == "tool_result" and block.get("is_error") and not block.get("content"):
            faults.append(f"{at}: an error that says nothing")
    return faults


def text_faults(at, turn, *, last):
    texts = [block["text"] for block in parts(turn) if block["type"] == "text"]
    for block in parts(turn):
        inner = block.get("content")
        if block["type"] == "tool_result" and isinstance(inner, list):
            texts = [*(part["text"] for part in inner if part["type"] == "text"), *texts]
    faults = [f"{at}: blank text" for text in texts if not text.strip()]
    ends_in_text = parts(turn) and parts(turn)[-1]["type"] == "text"
    if last and turn["role"] == "assistant" and ends_in_text and texts[-1] != texts[-1].rstrip():
        faults.append(f"{at}: whitespace at the very end")
    return faults


def parts(turn):
    content = turn.get("content")
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content or [])


def uses(turn):
    return [block["id"] for block in parts(turn) if block["type"] == "tool_use"]

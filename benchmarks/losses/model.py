"""The model that all have who ask one: it answers rightly, in the form that a prompt wants, and fails when told to.

It speaks OpenAI's API on loopback (`memhold.testing.ChaosServer`). A faultless reply says exactly what the new message
says; so what is missing afterwards was lost by a fault, and by what a memory does about it.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

from memhold.testing.chaos import ChaosServer, Character
from memhold.testing.chaos.replies import Asked, Call, Reply, answer_to

__all__ = ["DIMENSION", "FAULTS", "model", "says"]

DIMENSION = 1536
"""That of OpenAI's text-embedding-3-small, the default embedder of mem0 and of LangMem's documents."""
FAULTS = (
    *("reset", "html-502", "rate-limit", "truncated-json", "error-in-200"),
    *("prose", "wrong-tool", "empty-arguments", "null-arguments", "cut-at-limit", "refusal-text", "empty-reply"),
    "error-text",
)
"""Five ways in which the call fails, and eight in which a reply under status 200 is none: those of `consolidation`."""
_SENTENCE = re.compile(r"My ([\w ]+?) is (?:now )?(\w+)\.")


def model(seed: int = 0) -> ChaosServer:
    """A server of that model and of vectors; use it as a context manager."""
    server = ChaosServer(seed=seed, character=Character(dimension=DIMENSION))
    server.say(says)
    return server


def says(asked: Asked) -> Reply | None:
    """The right reply for the prompt of each; None where the server's own answer is right."""
    last = next((text for role, text in reversed(asked.texts) if role == "user"), "")
    offered = {offer.name: offer for offer in asked.offers}
    if "## New Messages" in last:
        return _mem0(last)
    if "Memory" in offered or "PatchDoc" in offered:
        return _langmem(asked, last)
    if {"memory_insert", "memory_replace"} <= {*offered}:
        return _letta(asked)
    if (task := next((one for one in _AGENT_MEMORY_SERVER if one in last), None)) is not None:
        return _AGENT_MEMORY_SERVER[task](last)
    if "save_memory" in " ".join(text for _, text in asked.texts):
        return _memhold(answer_to(asked))
    return None


def _memhold(reply: Reply) -> Reply:
    """The server's own answer, with what each of these sentences is: the one value of today."""
    calls = tuple(replace(call, arguments=_current(call.arguments)) for call in reply.calls)
    return replace(reply, calls=calls, text=reply.text and json.dumps(_current(json.loads(reply.text))))


def _current(given: dict[str, Any]) -> dict[str, Any]:
    return given | {"facts": [fact | {"operation": "set"} for fact in given.get("facts", ())]}


def _mem0(prompt: str) -> Reply:
    new = prompt.partition("## New Messages")[2].partition("\n## ")[0]
    found = [
        {"id": str(place), "text": f"User's {thing} is {word}.", "attributed_to": "user"}
        for place, (thing, word) in enumerate(dict(_SENTENCE.findall(new)).items())
    ]
    return Reply(text=json.dumps({"memory": found}))


def _langmem(asked: Asked, prompt: str) -> Reply:
    """What is new as a memory; one of the same thing that the prompt shows is patched, as it asks for."""
    session = prompt.partition("<session_")[2].partition("</session_")[0]
    known = dict(_ITEM.findall("\n".join(text for _, text in asked.texts)))
    calls = []
    for thing, word in dict(_SENTENCE.findall(session)).items():
        text = f"User's {thing} is {word}."
        older = next((name for name, held in known.items() if f"User's {thing} is " in held), None)
        if older is None:
            calls.append(Call(name="Memory", arguments={"content": text}))
        else:
            patch = {"op": "replace", "path": "/content", "value": text}
            given = {"json_doc_id": older, "planned_edits": "the new value", "patches": [patch]}
            calls.append(Call(name="PatchDoc", arguments=given))
    return Reply(calls=tuple(calls), finish="tool") if calls else Reply(text="Nothing new.")


def _letta(asked: Asked) -> Reply:
    """What is new as a line of the block on the user; the line of the same thing is replaced. Then a short answer."""
    role, said = asked.texts[-1]
    calls = []
    known = dict(_KEPT.findall(next((text for kind, text in asked.texts if kind == "system"), "")))
    for thing, word in dict(_SENTENCE.findall(said)).items() if role == "user" else ():
        given = {"label": "human", "new_string": f"User's {thing} is {word}."}
        if thing in known:
            old = {"old_string": f"User's {thing} is {known[thing]}."}
            calls.append(Call(name="memory_replace", arguments=given | old))
        else:
            calls.append(Call(name="memory_insert", arguments=given))
    return Reply(calls=tuple(calls), finish="tool") if calls else Reply(text="Good to know, I keep that in mind.")


def _extracted(prompt: str) -> Reply:
    said = prompt.partition("Message:")[2].partition("STEP-BY-STEP PROCESS:")[0]
    found = [
        {"type": "semantic", "text": f"User's {thing} is {word}.", "topics": [thing], "entities": ["User"]}
        for thing, word in dict(_SENTENCE.findall(said)).items()
    ]
    return Reply(text=json.dumps({"memories": found}))


def _merged(prompt: str) -> Reply:
    """Everything that they say, of each thing once: what is told last of it."""
    kept = dict(_KEPT.findall(prompt.partition("The memories:")[2]))
    return Reply(text=" ".join(f"User's {thing} is {word}." for thing, word in kept.items()))


def _topics(prompt: str) -> Reply:
    return Reply(text=json.dumps({"topics": list(dict(_KEPT.findall(prompt)))[:3] or ["talk"]}))


def _entities(_: str) -> Reply:
    return Reply(text=json.dumps({"entities": ["User"]}))


_KEPT = re.compile(r"User's ([\w ]+?) is (\w+)\.")
_AGENT_MEMORY_SERVER = {
    "You are a long-memory manager": _extracted,
    "You are a memory merging assistant": _merged,
    'Return a JSON object with a "topics" array': _topics,
    'Return a JSON object with an "entities" array': _entities,
}
"""By what stands in each of its prompts."""
_ITEM = re.compile(r'<instance id="?([\w-]+)"? [^>]*>\s*(.*?)\s*</instance>', re.DOTALL)

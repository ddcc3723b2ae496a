"""The page of the comparison, from what was measured. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchmarks.losses.peers import LEFT_OUT, PEERS, Peer
from benchmarks.losses.run import Results, applies
from benchmarks.losses.scenarios import SCENARIOS, Scenario

__all__ = ["cost_table", "page", "real_cost_table", "recall_table", "table"]

_TOP = ("model-15", "prose", "kill", "power-cut", "disk-full", "two-writers", "two-calls", "twice", "forget", "update")
"""The scenarios of the table at the top."""


def _short(found: Mapping[str, Any]) -> str:
    """One run in one cell: what went wrong of how many, else that nothing did."""
    if "not_run" in found:
        return "not run"
    parts = [f"{found[name]} {name}" for name in ("lost", "doubled", "stale", "leaked") if found.get(name)]
    parts += [f"{found['served']} still found"] if found.get("served") else []
    if found.get("refused"):
        parts += [*([] if parts else ["none lost"]), f"{found['refused']} refused"]
    whole = [f"{', '.join(parts)} of {found['said']}"] if parts else []
    if found.get("left"):
        whole.append(f"bytes of {found['left']} of {found['said'] // 3} deleted")  # a quarter was, the rest was said
    return "; ".join(whole) or "nothing"


def _cells(peer: Peer, results: Results) -> list[str]:
    """A peer's row of the short table."""
    found = []
    for name in _TOP:
        outcome = results.outcome(peer.name, name)
        if not applies(peer, SCENARIOS[name]):
            found.append("asks no model")
        else:
            found.append("not run" if outcome is None else _short(outcome))
    return found


def table(results: Results) -> list[list[str]]:
    """Every run as a line: peer, scenario and figures."""
    lines = [["memory", "scenario", "said", "acknowledged", "kept", "lost", "refused", "doubled", "other", "told"]]
    for name, scenario in SCENARIOS.items():
        for peer in PEERS.values():
            found = results.outcome(peer.name, name)
            if found is not None and "not_run" not in found:
                figures = [str(found[key]) for key in ("said", "acked", "kept", "lost", "refused", "doubled")]
                lines.append([peer.label, scenario.label, *figures, _other(found, scenario), _told(found)])
    return lines


def _other(found: Mapping[str, Any], scenario: Scenario) -> str:
    parts = [f"{found['made']} held by what was made of them"] if scenario.needs == "model" else []
    for name, text in (("stale", "stale"), ("unmarked", "old value unmarked"), ("leaked", "leaked")):
        if found.get(name) is not None:
            parts.append(f"{text} {found[name]}")
    if found.get("served") is not None:
        parts.append(f"still found {found['served']}, bytes left {found['left']}")
    if found.get("kept_though_refused"):
        parts.append(f"{found['kept_though_refused']} kept though refused")
    return "; ".join(parts)


def _told(found: Mapping[str, Any]) -> str:
    parts = [f"{kind} × {count}" for kind, count in sorted(found["told"].items())]  # noqa: RUF001 - a sign of times
    if found.get("hinted"):
        parts.append(f"{found['hinted']} of the lost: an empty list")
    if found["lost"] > found.get("hinted", 0):
        parts.append(f"{found['lost'] - found.get('hinted', 0)} of the lost: success")
    if found.get("note"):
        parts.append(f"afterwards: {found['note'].partition(' (')[0][:90]}")
    return "; ".join(parts).replace("|", "/").replace("\n", " ") or "no error"


def _rows(lines: list[list[str]]) -> str:
    head, *rest = lines
    return "\n".join(["| " + " | ".join(line) + " |" for line in (head, ["---"] * len(head), *rest)])


def cost_table(results: Results) -> list[list[str]]:
    """What 1,000 messages cost, a line a memory."""
    lines = [
        [
            "memory",
            "model calls",
            "tokens in",
            "tokens out",
            "requests for vectors",
            "processor, s",
            "one write, ms",
            "MB",
            "MB when empty",
        ]
    ]
    for peer in PEERS.values():
        if (cost := results.held["costs"].get(peer.name)) is not None:
            counts = [f"{cost[name]:,}" for name in ("calls", "tokens_in", "tokens_out", "embeds")]
            sizes = [f"{cost[name] / 1e6:.1f}" for name in ("size", "empty")]
            lines.append([peer.label, *counts, f"{cost['processor']:.1f}", f"{cost['wait']:.0f}", *sizes])
    return lines


def real_cost_table(results: Results) -> list[list[str]]:
    """What 1,000 messages cost with a real model, from each one's sample; bytes and the wait as they were."""
    head = ["memory", "messages", "model calls", "tokens in", "tokens out", "the model's processor, min"]
    lines = [[*head, "its answers, min", "one write, s", "MB of the sample", "errors"]]
    for peer in PEERS.values():
        if (cost := results.held["real"].get(peer.name)) is not None:
            whole = 1_000 / cost["messages"]
            counts = [f"{round(cost[name] * whole):,}" for name in ("calls", "tokens_in", "tokens_out")]
            worked = "" if cost["processor"] is None else f"{cost['processor'] * whole / 60:.0f}"
            passed, wait = f"{cost['seconds'] * whole / 60:.0f}", f"{cost['wait'] / 1e3:.1f}"
            errors = f"{cost['failed']} writes, {cost['refused']} calls, {cost['given_up']} given up"
            size = f"{cost['size'] / 1e6:.2f}"
            lines.append([peer.label, str(cost["messages"]), *counts, worked, passed, wait, size, errors])
    return lines


def recall_table(results: Results) -> list[list[str]]:
    """R@5 and R@10 by set, a line a memory."""
    sets: Mapping[str, Mapping[str, Mapping[str, float]]] = results.held["recall"]
    rows = dict.fromkeys(row for found in sets.values() for row in found)
    asked = {name: max(int(one["questions"]) for one in found.values()) for name, found in sets.items() if found}
    when = {name: f", {day}" for name, day in results.held["days"].items()}
    lines = [["memory", *(f"{name} ({count} questions{when.get(name, '')})" for name, count in asked.items())]]
    return lines + [[row, *(_recalled(sets[name].get(row)) for name in asked)] for row in rows]


def _recalled(found: Mapping[str, float] | None) -> str:
    if found is None:
        return ""
    left = f" ({found['unkept']} messages not taken)" if found.get("unkept") else ""
    return f"{found['R@5']:.3f}, {found['R@10']:.3f}{left}"


def page(results: Results) -> str:
    """The whole page in Markdown."""
    held = results.held
    here = [peer for peer in PEERS.values() if peer.name in held["versions"]]
    asked = [peer for peer in here if not peer.recall_only]
    top = [["memory", *(SCENARIOS[name].label for name in _TOP)]]
    top += [[f"**{peer.label}**" if peer.environment is None else peer.label, *_cells(peer, results)] for peer in asked]
    parts = [
        _HEAD,
        _rows(top),
        _READING,
        _setup(results, here),
        "## Every figure\n\nWhat each scenario does stands in `benchmarks/losses/scenarios.py`.\n",
    ]
    lines = table(results)
    for scenario in SCENARIOS.values():
        own = [[line[0], *line[2:]] for line in lines if line[1] == scenario.label]
        if own:
            head = [lines[0][0], *lines[0][2:]]
            title = scenario.label[0].upper() + scenario.label[1:]
            parts.append(f"### {title}\n\n{_does(scenario.name)}\n\n{_rows([head, *own])}\n")
    if results.held["costs"]:
        parts.append(f"{_COSTS}\n{_rows(cost_table(results))}\n")
    if results.held["real"]:
        parts.append(f"{_REAL}\n{_rows(real_cost_table(results))}\n")
    if results.held["recall"]:
        parts.append(f"{_RECALL}\n{_rows(recall_table(results))}\n")
    parts += [_better(results), _left_out(results)]
    return "\n".join(parts).rstrip() + "\n"


def _does(name: str) -> str:
    told = SCENARIOS[name].run.__doc__ or _DOES.get(name, "")
    return " ".join(told.split())


_RATE = (
    "40 messages; of the model's calls that share meets one of thirteen faults, by seeded dice: five below HTTP or in "
    "it, eight replies under status 200 that are none."
)
_DOES = {
    "model-5": _RATE,
    "model-15": _RATE,
    "model-30": _RATE,
    "prose": "39 messages; during the middle third the model answers with text instead of what it was asked for.",
    "unloaded": "39 messages; during the middle third the server says that the model was unloaded (400, as LM Studio).",
    "embedder-down": "39 messages; during the middle third every request for vectors meets an error page (502).",
}


def _setup(results: Results, here: list[Peer]) -> str:
    held = results.held
    lines = [["memory", "versions", "how it is set up"]]
    for peer in here:
        versions = ", ".join(f"{name} {number}" for name, number in held["versions"][peer.name].items())
        lines.append([peer.label, versions, peer.told])
    return _SETUP.format(date=held.get("date", "?"), machine=held.get("machine", "?"), rows=_rows(lines))


_WRONG = ("lost", "refused", "doubled", "stale", "unmarked", "leaked", "served", "left")
_COSTLY = (
    ("tokens_in", "tokens read by a model"),
    ("embeds", "requests for vectors"),
    ("processor", "processor time"),
    ("wait", "the wait for one write"),
    ("size", "bytes on the disk"),
)


def _better(results: Results) -> str:
    """Whatever a peer has less of that is bad, or more of that is good, than Memhold."""
    ours = [peer for peer in PEERS.values() if peer.environment is None]
    others = [peer for peer in PEERS.values() if peer.environment is not None]
    lines = []
    for name, scenario in SCENARIOS.items():
        for own in ours:
            mine = results.outcome(own.name, name)
            better = [one.label for one in others if mine and _less_wrong(results.outcome(one.name, name), mine)]
            if better:
                lines.append(f"- {scenario.label}: {', '.join(better)} (than {own.label})")
    costs = results.held["costs"]
    for figure, label in _COSTLY:
        mine = costs.get("memhold")
        cheaper = [one.label for one in others if mine and one.name in costs and costs[one.name][figure] < mine[figure]]
        lines += [f"- {label}: {', '.join(cheaper)} (than Memhold with a model)"] if cheaper else []
    for name, rows in results.held["recall"].items():
        mine = rows.get("Memhold")
        finds = [row for row, one in rows.items() if mine and row in _LABELS and one["R@10"] > mine["R@10"]]
        lines += [f"- found again, {name}: {', '.join(finds)}"] if finds else []
    return f"{_BETTER}\n" + ("\n".join(lines) or "- nowhere in what was measured") + "\n"


_LABELS = {peer.label for peer in PEERS.values() if peer.environment is not None}


def _less_wrong(theirs: Mapping[str, Any] | None, ours: Mapping[str, Any]) -> bool:
    """Whether something that went wrong with us did so less often there, and nothing more often."""
    if theirs is None:
        return False
    pairs = [(theirs.get(name) or 0, ours.get(name) or 0) for name in _WRONG]
    return any(a < b for a, b in pairs) and all(a <= b for a, b in pairs)


def _left_out(results: Results) -> str:
    lines = [["memory", "what was tried", "what it said"]]
    for name, told in results.held["missing"].items():
        label = PEERS[name].label if name in PEERS else name
        lines.append([label, f"`{told['command']}`", told["said"].replace("|", "/").replace("\n", " ")])
    lines += [[name, f"`{command}`", " ".join(said.split())] for name, command, said in LEFT_OUT]
    return f"## Left out\n\n{_LEFT_OUT}\n{_rows(lines)}\n"


_HEAD = """# Memhold beside others

`python -m benchmarks losses` wrote this page; anyone can run it. Every memory runs in an environment of its own
with its own defaults, is told the same messages, and has the same model, which is right until it is told to fail.
Counted is what went wrong; *refused* is what the caller got an error for, and so can send again.
"""
_READING = """
*nothing*: nothing went wrong. *lost*: acknowledged, and nowhere afterwards. *doubled*: there twice, after it was
sent again or of itself. *stale*: the old value is first, or the new one is not found. *bytes*: in how many cases the
words of what was deleted still stand in a file. *asks no model*: nothing is made of the messages, so nothing can fail
there.
"""
_SETUP = """## How it was measured

{date}; {machine}. Nothing but loopback and the disk is reached, and what would go elsewhere meets a closed port.

{rows}

- **What is said**: one thing a message ("My dentist is Jembek2745."), each with a value that stands nowhere else,
  for one user. A value is *kept* when a new process finds it in anything that the memory lists for that user.
- **Acknowledged** is every call that came back without an error, whatever is in its answer. mem0 and LangMem answer
  with a list of what they kept; an empty one is no error, and means "nothing worth keeping" as well.
- **Told** is what the caller heard: errors by their names, how many messages were lost with an empty list, and how
  many with an answer that says they were kept (*success*). *No error* stands there too where something went wrong that
  nobody was told of.
- **The model** is one server on loopback (`memhold.testing.ChaosServer`). It answers the prompt of each memory
  rightly in the form that this asks for: with every sentence, and for an update with the operation that the prompt
  has for one (mem0's has none). Clients keep their own retries and timeouts.
- **Memhold's `add` asks no model**: it writes down the message and answers. What the model makes of it comes later,
  so a fault of the model can lose nothing that was said; it can delay the facts. They are counted under *kept* too
  only because the message is.
- **After the fault** all is well again, the memory has up to 90 s for what is due, its process ends, and a new one
  is asked.
- **Power cut**: a library that the linker preloads records each write, sync and name below the memory's folder, for
  all alike; a cut keeps what was synced and none or a random half of the rest. Names are safe with the next sync of
  anything, as on ext4. What was written until the memory was open counts as synced; the rest is seconds old when
  the power goes, and a system that writes back every half minute has not done so. What the recorder cannot see
  (memory maps, streams of the C library) counts as kept.
- **Disk full** is the same library: while it is full, no file grows beyond what others gave back.
- **Servers** (Letta's, agent-memory-server, and the databases below them) are the memory's processes: they are killed
  with it, their writes are recorded, and a full disk is theirs. Two writers are two clients of one server. What stands
  in Letta's history or in a session of agent-memory-server counts as kept as well; what was made of it is told apart.
  *Answered* is an error over HTTP. agent-memory-server reads a session 30 s after each message: of messages that come
  sooner it makes the same several times, and where its process ends before (all scenarios that do not let it settle
  first) nothing is made of them. Its Redis answers from memory and saves once a minute: a full disk refuses nothing,
  and what a kill or a power cut takes is what came since.
- **SQLite** here is that of the Python each runs on. Debian's overwrites what is deleted; other builds do not.

Run it: `python -m benchmarks losses` (an hour or so, and up to two more for Letta and agent-memory-server; stopped and
started again it goes on; `--only mem0/kill`, `--only /update` for a part, `--again` to measure anew). It needs `pip`,
`npm` for the MCP server, a C compiler for the disk, Python 3.12 for basic-memory and agent-memory-server, and for
LangGraph's store a Python whose SQLite loads extensions; what cannot be had here is said under "Left out".
"""
_COSTS = """## What it costs

`python -m benchmarks losses --costs`: 100 turns (a thing said, and a short answer) of one user, written one by one,
times five: figures for 1,000 messages. Processor time is that of all the memory's processes, its servers and databases
among them, beyond opening and closing it; one write is the median that a caller waits. Tokens are estimated from what
is sent and answered, with the scripted model; it answers each prompt as shortly as is right, and a real one writes
more. Prices follow from the tokens. What an empty store takes on the disk counts once, the rest times five; logs of
servers do not count. Questions are not counted: none of these asks its chat model for one, but for Letta, where a
question is another turn.

Memhold's model works behind the writes: at this pace its windows are larger than the twenty messages that make one due,
and its calls fewer. Letta sends its history with each call until it is longer than the model's context (128,000 tokens
here), and in it each result of `memory_insert` has the whole block: a conversation of five times as many turns costs
more than five times the tokens that were measured. agent-memory-server works behind its answers too; of messages that
come while it waits to read the ones before, the last stay unread until another comes (38 of 200 in a run that was
looked at), and what they would cost is in no figure. Its bytes are those of a compressed snapshot, in which the
scripted server's vectors, nearly all zeros, take little; in memory it needs the whole.
"""
_REAL = """### With a real small model

`python -m benchmarks losses --costs --model URL#NAME --turns N --pid PID`: the first N of the same turns, told to each
memory that asks a model, with a real one ([Qwen2.5-Coder-1.5B](consolidation.md#with-a-real-small-model) in llama.cpp,
one thread) behind one relay. Calls and tokens are those that its server counts, of the sample that the first column
names, times 1,000 by its size; the sample is too small for what grows with a memory (prompts that hold what is known),
so long runs cost more. Errors and bytes are those of the sample. `--pid` is the model's server, whose processor time is
told; the minutes of its answers are those of a machine that does other things (here at a load of 9 to 18). One write is
the median that a caller waits. Given up are answers that came after the memory's own deadline: it asked again, and they
are in no other figure. Bytes of so few messages are mostly those of an empty store, whose size times 1,000 would say
nothing.

mem0 has no row: its first prompt has about 8,000 tokens, of which the model had read 6,144 after 816 s, and it was
stopped after 24 minutes. Letta and agent-memory-server were not run with it. Asked turn by turn, as suits a small
model, about 75 and 104 messages of other days, Memhold made 410 and 560 calls for 1,000, with 203,000 and 342,000
tokens in and out, in about 67 and 96 minutes of two calm cores.
"""
_RECALL = """## What is found again

`python -m benchmarks losses --recall NAME=PATH …`: R@5 and R@10, the share of the messages that answer a question among
the first five and ten found (for RealMem the sessions that these stand in; the other pages rank whole sessions there).
Every message is told as it is, without a model: what a model makes of them is another question. Letta and
agent-memory-server have a place for that, which is set up as told above. Messages that a memory refuses are counted in
its cell. The peers' own embedders are not on this machine, so all have the vectors of Memhold's built-in one, as it
was before its rows were trained (decision 0005); with a larger embedder of yours they find more, and so does Memhold.
Memhold has the messages' times and, in LoCoMo, their speakers, whom the others are told in the text. A day says when
Memhold was last measured there. An empty cell was not measured: Letta takes one passage at a time, at .15 s of
processor time each, which was one or two a second on a machine that did much else.
"""
_LEFT_OUT = """What could not be run here. Of Letta and of agent-memory-server an older release stands above.
"""
_BETTER = """## Where others do better

The makers of Memhold chose what goes wrong here, and it is what Memhold promises to stand. Of what was measured,
others have less that is bad, or more that is good, in:
"""

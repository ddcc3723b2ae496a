"""Two memories behind one connection: the project's, and the person's own in every project.

A coding agent works in a folder: what is decided there belongs to the project, what the person is like to the person.
A write goes to one of them, and says which; a read looks into both, each for itself, within one limit and one budget.
Each fence is made by the memory that it shows, so that forgetting there reaches it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, get_args

from memhold.values.errors import InvalidInput, NotFound

if TYPE_CHECKING:
    from memhold.context.answer import Context
    from memhold.values.answers import Recall

__all__ = ["PLACED", "WHERE", "Place", "Where", "asked_in", "fused", "places_of", "with_where"]

Where = Literal["project", "personal"]
Place = Literal["project", "former", "personal"]
"""Where a call looks: beside the two, what the project's memory was before its repository had a remote."""
WHERE = "where"
_DOCUMENTS = tuple(f"{verb}_document" for verb in ("put", "read", "move", "delete"))
PLACED = frozenset(
    {"remember", "recall", "forget", "add_message", "add_memory", "get_context", "end_session"}
    | {*_DOCUMENTS, "list_documents", "search_documents"}
)
"""The tools that take `where`; the others name an item, which is looked for in both memories."""
PERSONAL_SHARE = 4
"""The personal memory gets at most one in so many tokens of a context; what it leaves, the project's gets."""
_PROPERTY = {"type": "string", "enum": [*get_args(Where)], "description": "Which memory."}


def with_where(listing: Mapping[str, Mapping[str, Any]]) -> Mapping[str, Mapping[str, Any]]:
    """The list of tools for a connection that has both memories."""
    return {name: _placed(one) if name in PLACED else one for name, one in listing.items()}


def _placed(one: Mapping[str, Any]) -> Mapping[str, Any]:
    tool = one["tool"]
    schema = tool["inputSchema"]
    properties = {**schema["properties"], WHERE: _PROPERTY}
    return {**one, "tool": {**tool, "inputSchema": {**schema, "properties": properties}}}


def places_of(
    tool: str, verb_needs: str, given: Mapping[str, Any], *, former: bool = False
) -> tuple[tuple[Place, ...], Mapping[str, Any]]:
    """Which memories a call is about, in the order in which they are asked, and its arguments without `where`.

    What is written goes to the project's where nothing else is said. An item is looked for in both. Where the project
    had another memory before (`former`), whatever looks or forgets in the project's does so there too.

    Raises:
        InvalidInput: `where` is none of the two, the tool does not take it, or a call must say it and does not.
    """
    both: tuple[Where, ...] = get_args(Where)
    project: tuple[Place, ...] = ("project", "former") if former else ("project",)
    writes = verb_needs == "write" and tool in PLACED and tool != "forget"
    left = {name: value for name, value in given.items() if name != WHERE}
    where = given.get(WHERE)
    if where is not None:
        if tool not in PLACED:
            raise InvalidInput(f"{tool} does not know {WHERE!r}: it finds the item in either memory; leave it out")
        if where not in both:
            raise InvalidInput(f"{WHERE} is {where!r:.40}; it is one of {', '.join(both)}")
        one = writes or left.get("cursor") is not None
        return (where,) if one or where == "personal" else project, left
    if tool == "forget" and left.get("item_id") is None:
        raise InvalidInput("forget without item_id must say where: project or personal; nothing was forgotten")
    if left.get("cursor") is not None:
        raise InvalidInput("a cursor is of one memory: pass where as well, project or personal")
    return ("project",) if writes else (*project, "personal"), left


async def asked_in(
    places: tuple[Place, ...],
    arguments: Mapping[str, Any],
    ask: Callable[[Place, Mapping[str, Any]], Awaitable[Any]],
    *,
    tool: str,
) -> list[tuple[Place, Any]]:
    """What each of these memories answers. Of an item, only the one that has it.

    Raises:
        NotFound: neither has the item.
    """
    if len(places) == 1:
        return [(places[0], await ask(places[0], arguments))]
    if tool == "get_context":
        return await _contexts(places, arguments, ask)
    if "item_id" in arguments or tool == "read_document":
        for place in places:
            try:
                return [(place, await ask(place, arguments))]
            except NotFound:
                if place == places[-1]:
                    raise
    found = [(place, await ask(place, arguments)) for place in places]
    return fused(found, int(arguments.get("limit") or 10)) if tool == "recall" else found


async def _contexts(
    places: tuple[Place, ...],
    arguments: Mapping[str, Any],
    ask: Callable[[Place, Mapping[str, Any]], Awaitable[Any]],
) -> list[tuple[Place, Any]]:
    """A context of each, within one budget: the first gets what the others leave of their shares."""
    budget = int(arguments.get("budget") or 8000)
    query = arguments.get("query") or arguments.get("message")
    about = {name: arguments[name] for name in ("strategy",) if name in arguments}
    about |= {} if query is None else {"query": query}
    others: list[tuple[Place, Any]] = []
    left = budget
    for place in reversed(places[1:]):
        found: Context = await ask(place, {**about, "budget": left // PERSONAL_SHARE})
        others.insert(0, (place, found))
        left -= found.used
    first: Context = await ask(places[0], {**arguments, "budget": left})
    return [(places[0], first), *others]


def fused(found: list[tuple[Place, Recall]], limit: int) -> list[tuple[Place, Recall]]:
    """The answers cut to one limit, as a recall of several scopes is; each stays apart, in a fence of its own.

    One of which nothing is left is not told: "nothing matches" would be false of it.
    """
    from memhold.recall.several import in_turn  # late: a client waits for the list of tools

    order = in_turn([answer.hits for _, answer in found], [answer.total for _, answer in found])
    shown = {hit.id for hit in order[:limit]}
    cut = [
        (place, replace(answer, hits=tuple(hit for hit in answer.hits if hit.id in shown), cursor=None), answer.hits)
        for place, answer in found
    ]
    return [(place, left) for place, left, hits in cut if left.hits or not hits]

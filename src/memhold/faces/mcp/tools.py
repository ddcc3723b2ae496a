"""The tools that agents reach memory with, as the verbs declare them. `calls` has what happens when one is called.

The two are apart so that a server lists its tools before the rest of Memhold is loaded.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from memhold.faces.mcp.by_hand import ToolsByHand
from memhold.values.names import usable_name
from memhold.values.origins import acting
from memhold.verbs.declaration import Tool, Verb, verbs_of
from memhold.verbs.documents import AsyncDocuments
from memhold.verbs.scope import AsyncScope

if TYPE_CHECKING:
    from memhold.faces.mcp.where import Place
    from memhold.values.principal import Principal
    from memhold.verbs.store_protocols import AsyncStore

__all__ = ["DOCUMENT_TOOLS", "TOOLS", "Caller", "Refused", "ToolSpec", "input_schema", "tools_of"]

_SESSION = {
    "type": "string",
    "description": "The conversation, by a name of yours.",
}


MAX_CLIENT = 64
"""Characters of a client's own name that are kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Who asks, and the store that is asked. Whose memory it is comes from the connection alone.

    Everything that comes through a tool call is an agent's word, also a line with the role user.

    Attributes:
        client: what the client calls itself, where it says so.
        project: the namespace of the project's memory, where the connection has one beside the principal's own.
        former: the one that it had before the repository had a remote, where anything is kept there.
    """

    memhold: AsyncStore
    principal: Principal
    client: str | None = None
    project: str | None = None
    former: str | None = None

    @property
    def actor(self) -> str:
        """In whose name it writes: an agent's, whatever the principal is; by the name of its token, else its own."""
        own = self.principal.scope.actor
        kind, named, _ = own.partition(":")
        if kind in {"agent", "tool"} and named:
            return own
        name = usable_name(usable_name(self.client or "")[:MAX_CLIENT])
        client = f"agent:{name}" if name else "agent"
        return acting(own, client) if kind == "user" else client

    def scope(self, session: str | None = None, where: Place = "personal") -> AsyncScope:
        """The principal's scope, in that session, or in the one that the connection began with.

        With "project" or "former" it is the same person's in that namespace, which the connection must have.

        Raises:
            InvalidScope: a session that cannot be used as a name; or it is a service's, and no user was named.
        """
        bound = self.principal.whose
        named = {"project": self.project, "former": self.former}.get(where)
        return self.memhold.scope(
            namespace=bound.namespace if named is None else named,
            user=bound.user,
            agent=bound.agent,
            session=bound.session if session is None else session,
            actor=self.actor,
        )

    def project_scopes(self) -> list[AsyncScope]:
        """The project's memories, where the connection has any: the one that is written, and the former one."""
        places: tuple[tuple[Place, str | None], ...] = (("project", self.project), ("former", self.former))
        return [self.scope(where=place) for place, named in places if named is not None]


class Refused(Exception):
    """A call that is answered with an error that the model can act on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSpec:
    """A tool and the verb that it calls.

    Attributes:
        verb: what is called, with its parameters.
        tool: what a model is told and shown.
        reach: what has the verb as a method, from the caller's scope.
    """

    verb: Verb
    tool: Tool
    reach: Callable[[AsyncScope], Any]

    @property
    def name(self) -> str:
        """The tool's name, which need not be the verb's."""
        return self.tool.name

    @property
    def read_only(self) -> bool:
        """Whether it changes nothing."""
        return self.verb.needs == "read"

    @property
    def in_session(self) -> bool:
        """Whether "session" says which conversation is meant, and is no parameter of the verb's own."""
        return "session" in self.tool.shows and "session" not in self.verb.parameters


def tools_of(declared: type) -> Mapping[str, ToolSpec]:
    """The tools of a Protocol's verbs by name, and those that are written by hand behind them."""
    homes: tuple[tuple[type, Callable[[AsyncScope], Any]], ...] = (
        (declared, lambda scope: scope),
        (ToolsByHand, ToolsByHand),
    )
    return {name: spec for home, reach in homes for name, spec in _tools(home, reach).items()}


def _tools(home: type, reach: Callable[[AsyncScope], Any]) -> Mapping[str, ToolSpec]:
    return {
        verb.tool.name: ToolSpec(verb=verb, tool=verb.tool, reach=reach)
        for verb in verbs_of(home).values()
        if verb.tool is not None and verb.tool.by_hand is None
    }


def input_schema(spec: ToolSpec) -> dict[str, Any]:
    """The JSON schema of a tool's arguments; what may be absent is left out, never null."""
    from memhold.verbs.json_schema import property_of

    known = spec.verb.parameters
    properties = {
        name: _plain(property_of(spec.verb, known[name], nullable=False)) if name in known else _SESSION
        for name in spec.tool.shows
    }
    needed = [name for name in spec.tool.shows if name in known and known[name].required]
    required = {"required": needed} if needed else {}
    return {"type": "object", "properties": properties, **required, "additionalProperties": False}


def _plain(schema: dict[str, Any]) -> dict[str, Any]:
    """Without a default and a most that go without saying: every model reads the list each time."""
    from memhold.values.bounds import MAX_NUMBER

    said = {name: one for name, one in schema.items() if not (name == "default" and one in (False, ""))}
    return {name: one for name, one in said.items() if not (name == "maximum" and one == MAX_NUMBER)}


TOOLS = tools_of(AsyncScope)
"""Every tool by its name, but for those of documents."""
DOCUMENT_TOOLS = _tools(AsyncDocuments, lambda scope: scope.documents)
"""The tools of documents by name, which a server offers where it is told to."""

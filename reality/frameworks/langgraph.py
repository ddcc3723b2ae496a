"""LangGraph and LangMem on `MemholdStore`: a graph and LangMem's tools, in two processes."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from langgraph.store.base import PutOp
from langmem import create_manage_memory_tool, create_search_memory_tool
from typing_extensions import TypedDict

from memhold import Memhold
from memhold.errors import InvalidInput, StoreFull, TooLarge
from memhold.integrations.langgraph import MemholdStore


class State(TypedDict):
    """What goes through the graph."""

    said: str
    known: str


def recalled(state: State, runtime: Runtime[Any]) -> State:
    """A node that keeps what is said, and answers with what it knew of it before."""
    assert runtime.store is not None
    found = runtime.store.search(("said",), query=state["said"], limit=1)
    runtime.store.put(("said",), "last", {"text": state["said"]})
    return {"said": state["said"], "known": found[0].value["text"] if found else ""}


def answer(store: MemholdStore, said: str) -> str:
    """Run the graph once, on a loop of its own."""
    graph = StateGraph(State).add_node("recalled", recalled).add_edge(START, "recalled").add_edge("recalled", END)
    done = asyncio.run(graph.compile(store=store).ainvoke({"said": said, "known": ""}))
    return str(done["known"])


def main(mode: str, folder: Path) -> None:
    """See `reality.frameworks`."""
    mem = Memhold.open(folder / "memory.db", worker=False)
    store = MemholdStore(mem.scope(user="alice"))
    manage = create_manage_memory_tool(namespace=("memories",), store=store)
    search = create_search_memory_tool(namespace=("memories",), store=store)
    if mode == "first":
        assert answer(store, "I moved to Lisbon") == ""
        manage.invoke({"content": "Likes oolong tea", "action": "create"})
        print("told", flush=True)
        time.sleep(600)
    elif mode == "second":
        assert answer(store, "where did I move to") == "I moved to Lisbon"
        assert "oolong" in search.invoke({"query": "which tea"})
        fields(mem)
        more_than_a_page(mem)
        what_cannot_be(MemholdStore(mem.scope(user="carol")))
        a_full_disk_takes_no_read(mem)
    elif mode == "writers":
        asyncio.run(writers(store))
        assert len(mem.scope(user="alice").documents.list(("langgraph",)).items) == 1
    mem.close()


def fields(mem: Memhold) -> None:
    """An item is found by the fields that its put names, or else the store."""
    store = MemholdStore(mem.scope(user="bob"), index={"dims": 8, "embed": len, "fields": ["text"]})
    value = {"text": "oolong", "by": {"name": "Ilse", "town": "Graz"}, "note": "elk"}

    def found(word: str) -> list[str]:
        hits = mem.scope(user="bob").documents.search(word).hits
        return sorted(hit.document.path[-1] for hit in hits if any(one.signal == "words" for one in hit.why))

    store.put(("books",), "as the store says", value)
    store.put(("books",), "by name", value, index=["by.{name,town}"])
    store.put(("books",), "all", value, index=["$"])
    store.put(("books",), "not at all", value, index=False)
    assert found("oolong") == ["all", "as the store says"]
    assert found("Ilse") == found("Graz") == ["all", "by name"]
    assert found("elk") == ["all"]


def more_than_a_page(mem: Memhold) -> None:
    """A search goes on behind the thousand hits that one answer of ours has, and takes a question of any length."""
    store = MemholdStore(mem.scope(user="dave"))
    store.batch([PutOp(("many",), f"k{number}", {"text": f"apple {number}"}) for number in range(1_005)])
    assert len(store.search(("many",), query="apple", limit=2_000)) == 1_005
    assert len(store.search(("many",), query="apple", limit=10, offset=1_000)) == 5
    assert len(store.search(("many",), query="apple " * 5_000, limit=3)) == 3


def what_cannot_be(store: MemholdStore) -> None:
    """Each is refused in words of ours, which are a `ValueError`, as LangGraph's own stores refuse."""
    deep: list[Any] = []
    for _ in range(10_000):
        deep = [deep]
    value = {"a": 1}
    cases: list[tuple[str, Any, dict[str, Any]]] = [
        ("k" * 100_000, value, {}), ("k", {"x": float("nan")}, {}), ("k", {"x": deep}, {}), ("k", 5, {}),
        *(("k", value, {"ttl": ttl}) for ttl in (1e300, float("nan"), float("inf"), 0, "x")),
        *(("k", value, {"index": [field]}) for field in ("a..b", "x[*")),
    ]  # fmt: skip
    for key, item, more in cases:
        refused(lambda: store.put(("n",), key, item, **more))  # noqa: B023 - called at once
    refused(lambda: store.put(tuple(f"p{number}" for number in range(1_000)), "k", value))
    assert store.search(()) == []
    for asked in ({"a": 1, "a.b": 2}, {"a.b": 2, "a": 1}, {"a": {"$gt": 1}, "a.b": 2}, {"a') OR ('1'='1": 1}, [1],
                  {"a": {"$regex": "x"}}, {"a": deep}):  # fmt: skip
        refused(lambda: store.search((), filter=asked))  # noqa: B023 - called at once
        refused(lambda: store.search((), query="x", filter=asked))  # noqa: B023 - called at once


def refused(call: Callable[[], object]) -> None:
    """The call is refused as what cannot be."""
    try:
        call()
    except (InvalidInput, TooLarge):
        return
    raise AssertionError("it was taken")


def a_full_disk_takes_no_read(mem: Memhold) -> None:
    """An item that was read is given, though its life cannot begin anew."""
    scope = mem.scope(user="erin")
    store = MemholdStore(scope)
    store.put(("n",), "k", {"a": 1}, ttl=0.001)

    async def full(*_: Any, **__: Any) -> Any:
        raise StoreFull("no room on the disk")

    documents: Any = scope._core.documents  # noqa: SLF001 - a disk that is full for a while
    documents.put = full
    time.sleep(0.02)
    held = store.get(("n",), "k")
    assert held is not None
    assert held.value == {"a": 1}


async def writers(store: MemholdStore) -> None:
    """Eight that put one key at once."""
    await asyncio.gather(*(store.aput(("one",), "place", {"n": number}) for number in range(8)))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))

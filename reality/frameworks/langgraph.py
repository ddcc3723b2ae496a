"""LangGraph and LangMem on `MemholdStore`: a graph and LangMem's tools, in two processes."""

from __future__ import annotations

import asyncio
import sys
import time
from pathlib import Path
from typing import Any

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from langmem import create_manage_memory_tool, create_search_memory_tool
from typing_extensions import TypedDict

from memhold import Memhold
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


async def writers(store: MemholdStore) -> None:
    """Eight that put one key at once."""
    await asyncio.gather(*(store.aput(("one",), "place", {"n": number}) for number in range(8)))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))

"""Holdfast: durable memory for AI agents.

    from holdfast import Holdfast

    with Holdfast.open("memory.db") as hf:
        alice = hf.scope(user="alice", session="s1")
        alice.add([{"role": "user", "content": "I moved to Lisbon."}])
        alice.recall("where did she move").hits[0].text

Nothing heavy is imported until it is used (PEP 562).
"""

from importlib import import_module

_EXPORTS = {
    "holdfast._version": ("__version__",),
    "holdfast.open": ("AsyncHoldfast", "Holdfast"),
    "holdfast.model": ("Change", "Memory", "Message", "Scope"),
    "holdfast.pipeline.context.answer": ("Context",),
    "holdfast.pipeline.tool_pairs": ("cut_window", "repair_window"),
    "holdfast.pipeline.window": ("Window",),
    "holdfast.answers": ("Erasure", "Hit", "Page", "Query", "Recall", "Receipt", "Remembered", "Status"),
}
_HOME = {name: module for module, names in _EXPORTS.items() for name in names}

__all__ = [
    "AsyncHoldfast",
    "Change",
    "Context",
    "Erasure",
    "Hit",
    "Holdfast",
    "Memory",
    "Message",
    "Page",
    "Query",
    "Recall",
    "Receipt",
    "Remembered",
    "Scope",
    "Status",
    "Window",
    "__version__",
    "cut_window",
    "errors",
    "repair_window",
]


def __getattr__(name: str) -> object:
    if name == "errors":
        return import_module("holdfast.errors")
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module 'holdfast' has no attribute {name!r}")
    return getattr(import_module(home), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

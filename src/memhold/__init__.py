"""Memhold: durable memory for AI agents.

    from memhold import Memhold

    with Memhold.open("memory.db") as mem:
        alice = mem.scope(user="alice", session="s1")
        alice.add([{"role": "user", "content": "I moved to Lisbon."}])
        alice.recall("where did she move").hits[0].text

Nothing heavy is imported until it is used (PEP 562).
"""

from importlib import import_module

TYPE_CHECKING = False  # type checkers take it for true; importing `typing` for it would slow every start
if TYPE_CHECKING:
    from memhold import errors
    from memhold._version import __version__
    from memhold.context.answer import Context
    from memhold.faces.python.open import AsyncMemhold, Memhold
    from memhold.integrations.wrap import wrap
    from memhold.messages.tool_pairs import cut_window, repair_window
    from memhold.messages.window import Window
    from memhold.values.answers import Erasure, Hit, Messages, Page, Query, Recall, Receipt, Remembered, Status
    from memhold.values.records import Change, Memory, Message, Scope

_EXPORTS = {
    "memhold._version": ("__version__",),
    "memhold.faces.python.open": ("AsyncMemhold", "Memhold"),
    "memhold.integrations.wrap": ("wrap",),
    "memhold.values.records": ("Change", "Memory", "Message", "Scope"),
    "memhold.context.answer": ("Context",),
    "memhold.messages.tool_pairs": ("cut_window", "repair_window"),
    "memhold.messages.window": ("Window",),
    "memhold.values.answers": (
        "Erasure",
        "Hit",
        "Messages",
        "Page",
        "Query",
        "Recall",
        "Receipt",
        "Remembered",
        "Status",
    ),
}
_HOME = {name: module for module, names in _EXPORTS.items() for name in names}

__all__ = [
    "AsyncMemhold",
    "Change",
    "Context",
    "Erasure",
    "Hit",
    "Memhold",
    "Memory",
    "Message",
    "Messages",
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
    "wrap",
]


def __getattr__(name: str) -> object:
    if name == "errors":
        return import_module("memhold.errors")
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module 'memhold' has no attribute {name!r}")
    return getattr(import_module(home), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

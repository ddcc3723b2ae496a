"""A pickle as the plain values that are in it. Nothing of it is run: no class is looked up, none is called."""

from __future__ import annotations

import pickletools
from collections.abc import Callable
from typing import Any, Final

__all__ = ["NotPlain", "plain_value"]

_MARK: Final = object()
_MOST_BITS = 64
_MOST = 10_000_000
"""Most operations of one pickle: a vector of a few thousand numbers has as many."""


class NotPlain(ValueError):
    """This is no pickle, is damaged, or holds something that is no plain value."""


def plain_value(data: object) -> Any:
    """The value of a pickle: texts, numbers, lists, dicts. An object is the dict of its attributes, or else None.

    Raises:
        NotPlain: see there.
    """
    if not isinstance(data, bytes):
        raise NotPlain(f"it is a {type(data).__name__}, not bytes")
    try:
        found = _run(data)
    except NotPlain:
        raise
    except (ValueError, IndexError, KeyError, TypeError, AttributeError, RecursionError, OverflowError) as error:
        raise NotPlain(f"it is damaged ({type(error).__name__})") from None
    return _plain(found)


def _run(data: bytes) -> Any:
    machine = _Machine()
    for count, (code, given, _) in enumerate(pickletools.genops(data)):
        if count > _MOST:
            raise NotPlain(f"it has more than {_MOST:,} operations")
        if code.name == "STOP":
            break
        machine.step(code.name, given)
    (found,) = machine.stack
    return found


class _Object:
    """An object of some class, of which only what was set on it is known."""

    __slots__ = ("state",)

    def __init__(self) -> None:
        self.state: Any = None


class _Machine:
    """The stack on which a pickle puts its values together."""

    def __init__(self) -> None:
        self.stack: list[Any] = []
        self.memo: dict[int, Any] = {}

    def step(self, name: str, given: Any) -> None:
        """Do one operation."""
        if name in _PUSHED:
            if isinstance(given, int) and given.bit_length() > _MOST_BITS:
                raise NotPlain(f"it holds an integer of {given.bit_length()} bits")
            self.stack.append(given)
        elif name in _MADE:
            self.stack.append(_MADE[name]())
        elif name in _DONE:
            _DONE[name](self, given)
        elif name not in {"PROTO", "FRAME"}:
            raise NotPlain(f"it holds what is no plain value ({name})")

    def marked(self) -> list[Any]:
        """What stands above the last mark, taken off with it."""
        at = len(self.stack) - 1
        while self.stack[at] is not _MARK:
            at -= 1
            if at < 0:
                raise IndexError
        found = self.stack[at + 1 :]
        del self.stack[at:]
        return found

    def remember(self, given: Any) -> None:
        self.memo[len(self.memo) if given is None else given] = self.stack[-1]

    def fetch(self, given: Any) -> None:
        self.stack.append(self.memo[given])

    def append(self, _given: Any) -> None:
        one = self.stack.pop()
        self._extend([one])

    def appends(self, _given: Any) -> None:
        self._extend(self.marked())

    def _extend(self, values: list[Any]) -> None:
        if isinstance(self.stack[-1], list):
            self.stack[-1].extend(_plain(one) for one in values)

    def set_item(self, _given: Any) -> None:
        value, name = self.stack.pop(), self.stack.pop()
        self._set([name, value])

    def set_items(self, _given: Any) -> None:
        self._set(self.marked())

    def _set(self, pairs: list[Any]) -> None:
        target = self.stack[-1]
        if isinstance(target, dict):
            for name, value in zip(pairs[::2], pairs[1::2], strict=True):
                if not isinstance(name, str | int):
                    raise NotPlain("it holds a dict with names that are no text")
                target[str(name)] = _plain(value)

    def tuple_of(self, count: int) -> None:
        held = [self.stack.pop() for _ in range(count)][::-1]
        self.stack.append([_plain(one) for one in held])

    def drop(self, count: int) -> None:
        """What a class was called with goes, an object of that class comes."""
        for _ in range(count):
            self.stack.pop()
        self.stack.append(_Object())

    def build(self, _given: Any) -> None:
        state = self.stack.pop()
        target = self.stack[-1]
        if isinstance(target, _Object) and isinstance(state, dict):
            inner = state.get("__dict__")
            target.state = inner if isinstance(inner, dict) else state

    def from_mark(self, _given: Any) -> None:
        self.stack.append([_plain(one) for one in self.marked()])

    def dict_from_mark(self, _given: Any) -> None:
        pairs = self.marked()
        self.stack.append({})
        self._set(pairs)

    def object_from_mark(self, _given: Any) -> None:
        self.marked()
        self.stack.append(_Object())

    def forget_mark(self, _given: Any) -> None:
        self.marked()


def _plain(value: Any) -> Any:
    return value.state if isinstance(value, _Object) else value


_PUSHED = frozenset(
    {"BINUNICODE", "SHORT_BINUNICODE", "BINUNICODE8", "UNICODE", "BININT", "BININT1", "BININT2", "INT", "LONG"}
    | {"LONG1", "LONG4", "BINFLOAT", "FLOAT", "BINBYTES", "SHORT_BINBYTES", "BINBYTES8", "BYTEARRAY8"}
    | {"BINSTRING", "SHORT_BINSTRING", "STRING"}
)
_MADE: dict[str, Callable[[], Any]] = {
    "NONE": lambda: None,
    "NEWTRUE": lambda: True,
    "NEWFALSE": lambda: False,
    "EMPTY_LIST": list,
    "EMPTY_DICT": dict,
    "EMPTY_TUPLE": list,
    "EMPTY_SET": list,
    "MARK": lambda: _MARK,
    "GLOBAL": _Object,
}
_DONE: dict[str, Callable[[_Machine, Any], None]] = {
    "MEMOIZE": _Machine.remember,
    "PUT": _Machine.remember,
    "BINPUT": _Machine.remember,
    "LONG_BINPUT": _Machine.remember,
    "GET": _Machine.fetch,
    "BINGET": _Machine.fetch,
    "LONG_BINGET": _Machine.fetch,
    "APPEND": _Machine.append,
    "APPENDS": _Machine.appends,
    "ADDITEMS": _Machine.appends,
    "SETITEM": _Machine.set_item,
    "SETITEMS": _Machine.set_items,
    "TUPLE1": lambda machine, _: machine.tuple_of(1),
    "TUPLE2": lambda machine, _: machine.tuple_of(2),
    "TUPLE3": lambda machine, _: machine.tuple_of(3),
    "TUPLE": _Machine.from_mark,
    "LIST": _Machine.from_mark,
    "FROZENSET": _Machine.from_mark,
    "DICT": _Machine.dict_from_mark,
    "STACK_GLOBAL": lambda machine, _: machine.drop(2),
    "NEWOBJ": lambda machine, _: machine.drop(2),
    "NEWOBJ_EX": lambda machine, _: machine.drop(3),
    "REDUCE": lambda machine, _: machine.drop(2),
    "INST": _Machine.object_from_mark,
    "OBJ": _Machine.object_from_mark,
    "BUILD": _Machine.build,
    "POP": lambda machine, _: machine.stack.pop() and None,
    "POP_MARK": _Machine.forget_mark,
}

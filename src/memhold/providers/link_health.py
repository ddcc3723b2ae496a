"""What calls show of each link of a chain: whether it answers, since when it does not, which form it takes.

`Links` collects this between two writes, as `Ledger` does with figures; where it is kept is behind the narrow port
`LinkBook`, so that every process knows what one has seen. `healths` says it of entries, in words, with what to do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Final

from memhold.ports.models import LinkNote
from memhold.ports.stores import Clock
from memhold.providers.context_room import CONTEXT_TOO_SMALL, needed, too_small, widen
from memhold.providers.entry import FORMS, Asked, Entry, Structured, origin_of, shown
from memhold.providers.failures.classify import LATE, NO_KEY, NOWHERE, UNLOADED, UNREADABLE
from memhold.providers.failures.rules import RULES
from memhold.providers.naming import is_line
from memhold.values.answers import ModelHealth
from memhold.values.errors import Attempt

__all__ = ["Links", "healths", "keyless", "site_of", "what_to_do"]

_STALE: Final = timedelta(seconds=60)
"""How long a note stands in the store before one that says the same is written again: another process may differ."""
_QUOTA: Final = next(rule.why for rule in RULES if rule.name == "quota")
_LATE_QUESTION: Final = "late_question"
_DOWN: Final = frozenset({"park", "auth", "retry"})


def site_of(entry: Entry) -> str:
    """The server of an entry as a note names it; "" where it has none."""
    return origin_of(entry.base_url) if entry.base_url else ""


def keyless(entry: Entry, environment: Mapping[str, str]) -> bool:
    """Whether an entry needs a key and its variable is not set."""
    return bool(entry.api_key_env) and not environment.get(entry.api_key_env or "", "").strip()


class Links:
    """What calls have shown, until it is written. `known` is what was kept before. For one event loop."""

    def __init__(
        self,
        entries: Mapping[str, Entry],
        *,
        clock: Clock,
        changed: Callable[[], None] | None = None,
        known: Iterable[LinkNote] = (),
    ) -> None:
        self._entries = entries
        self._clock = clock
        self._changed = changed
        self._held = {(note.model, note.url): note for note in known}
        self._open: dict[tuple[str, str], LinkNote] = {}
        self._written: dict[tuple[str, str], LinkNote] = {}

    def note(self, attempt: Attempt) -> None:
        """Note one call. A reply that is no good for its task shows that the link answers."""
        entry = self._entries.get(attempt.model)
        if entry is None:
            return
        now = self._clock.now()
        fresh = LinkNote(model=entry.name, url=site_of(entry), seen_at=now)
        # What an embedding model sends that is no vector is no reply that was merely no good for its task.
        if _down(attempt) or (entry.embeds and attempt.cls == "resample"):
            fresh = replace(
                fresh,
                failing_since=now,
                cls=attempt.cls,
                status=attempt.status,
                code=attempt.code,
                reason=attempt.reason,
                said=attempt.said,
            )
        self._lay(replace(fresh, unloads=int(attempt.code == UNLOADED)))

    def learned(self, name: str, form: Structured, asked: Asked | None = None) -> None:
        """Note the form in which a link was found to take a question, and how much at a time."""
        entry = self._entries[name]
        held = self._held.get((name, site_of(entry)))
        blank = LinkNote(model=name, url=site_of(entry), seen_at=self._clock.now())
        self._lay(replace(held or blank, form=form, asked=asked, unloads=0))

    def form(self, entry: Entry) -> Structured | None:
        """The form in which an entry was found to take a question; None where nobody found out."""
        held = self._held.get((entry.name, site_of(entry)))
        return next((form for form in FORMS if held is not None and form == held.form), None)

    def by_turns(self, entry: Entry) -> bool:
        """Whether an entry is asked turn by turn: as it says itself, else where it quoted nothing when it was tried."""
        held = self._held.get((entry.name, site_of(entry)))
        return entry.by_turns or (entry.asked is None and held is not None and held.asked == "turns")

    def knocked(self, entry: Entry, *, listens: bool) -> None:
        """Note whether anything listens at the server of an entry: that nothing does, or that this is over."""
        held = self._held.get((entry.name, site_of(entry)))
        absent = held is not None and held.failing_since is not None and held.reason == _absent(entry)
        if not listens:
            self.note(Attempt(model=entry.name, cls="retry", reason=_absent(entry)))
        elif absent:
            self._lay(LinkNote(model=entry.name, url=site_of(entry), seen_at=self._clock.now()))

    def late(self, entry: Entry, seconds: float) -> None:
        """Note that an embedding did not answer a question in time; what comes of that call is noted as any other."""
        why = f"no answer within {seconds:g} s, as long as a question waits"
        self.note(Attempt(model=entry.name, cls="retry", code=_LATE_QUESTION, reason=why))

    def unwritten(self) -> list[LinkNote]:
        """What was noted since the last `take`."""
        return list(self._open.values())

    @property
    def pending(self) -> bool:
        """Whether something was noted since the last `take`."""
        return bool(self._open)

    def take(self) -> list[LinkNote]:
        """What was noted since the last time, and begin anew."""
        taken, self._open = self._open, {}
        self._written |= taken
        return list(taken.values())

    def put_back(self, notes: Iterable[LinkNote]) -> None:
        """Return what could not be written, so that the next `take` has it again."""
        for note in notes:
            key = (note.model, note.url)
            self._open[key] = self._open[key].after(note) if key in self._open else note

    def _lay(self, fresh: LinkNote) -> None:
        key = (fresh.model, fresh.url)
        held = self._held.get(key)
        self._held[key] = fresh if held is None else fresh.after(held)
        last = self._written.get(key)
        if last is not None and not fresh.unloads and _same(last, fresh) and abs(fresh.seen_at - last.seen_at) < _STALE:
            return
        self._open[key] = fresh.after(self._open[key]) if key in self._open else fresh
        if self._changed is not None:
            self._changed()


def _absent(entry: Entry) -> str:
    return f"no server answers at {site_of(entry)}"


def _down(attempt: Attempt) -> bool:
    """Whether a call shows a link that does not work, rather than a request that it does not take."""
    if attempt.cls in _DOWN or attempt.code in {CONTEXT_TOO_SMALL, *UNREADABLE}:
        return True
    return attempt.cls == "next" and not attempt.refused and (attempt.status or 0) >= 400


def _same(one: LinkNote, other: LinkNote) -> bool:
    told = ("cls", "status", "code", "reason", "said", "form", "asked")
    failing = (one.failing_since is None) == (other.failing_since is None)
    return failing and all(getattr(one, name) == getattr(other, name) for name in told)


# ------------------------------------------------------------------------------------------------ in words


def healths(
    entries: Iterable[Entry], notes: Iterable[LinkNote], environment: Mapping[str, str]
) -> dict[str, ModelHealth]:
    """How each entry fares, by name: what the last call showed, or that its key is not set."""
    held: dict[tuple[str, str], LinkNote] = {}
    for note in notes:
        key = (note.model, note.url)
        held[key] = note.after(held[key]) if key in held else note
    return {entry.name: _health(entry, held.get((entry.name, site_of(entry))), environment) for entry in entries}


def _health(entry: Entry, note: LinkNote | None, environment: Mapping[str, str]) -> ModelHealth:
    said = ModelHealth(
        model=entry.name,
        url=site_of(entry) or None,
        key_variable=entry.api_key_env,
        unloads=0 if note is None else note.unloads,
        form=None if note is None else note.form,
    )
    if keyless(entry, environment):
        reason = f"the variable {entry.api_key_env} is not set"
        advice = f"set {entry.api_key_env} where this runs, and start it again"
        return replace(said, answers=False, reason=reason, advice=advice)
    if note is None and entry.window is not None and entry.window < needed(entry) and not entry.embeds:
        return replace(said, answers=False, reason=too_small(entry, entry.window), advice=widen(entry))
    if note is None:
        return said
    if note.failing_since is None:
        return replace(said, answers=True)
    reason, advice = note.reason.removesuffix(f"; {widen(entry)}"), _advice(entry, note)
    return replace(said, answers=False, since=note.failing_since, reason=reason, said=note.said, advice=advice)


def _advice(entry: Entry, note: LinkNote) -> str:
    return f"{what_to_do(entry, note)}; `memhold models test {_tried(entry)}` tries it now"


def _tried(entry: Entry) -> str:
    """What `memhold models test` is told to try an entry: a line of an embedding, or with a secret, by its setting."""
    if is_line(entry.name) and entry.embeds:
        return "embedding"
    return "consolidation" if "…" in entry.name else entry.name


def what_to_do(entry: Entry, note: LinkNote) -> str:
    """What mends a link of which a note says that it fails."""
    at = f"at {site_of(entry)}" if entry.base_url else "there"
    match note.cls:
        case "auth" if entry.api_key_env and note.code == NO_KEY:
            return f"set {entry.api_key_env} where this runs"
        case "auth" if entry.api_key_env:
            return f"check the key in {entry.api_key_env}"
        case "auth":
            return "put its key in a variable, and name that as `api_key_env` of its entry in memhold.toml"
        case "park" if note.reason == _QUOTA or note.status == 402:
            return "pay for the account or name another model"
        case "park" | "retry" if "base URL" in note.reason:
            return f"{shown(entry.base_url or '')} is to lead to a model's API"
        case "park" if note.reason == NOWHERE and entry.served_locally:
            url = shown(entry.base_url or "")
            return (
                f"see whether {url} is the URL of a model's API; if so, load the model there or name one that it serves"
            )
        case "park":
            return f"load the model {at} or name one that it serves"
        case _ if note.code == CONTEXT_TOO_SMALL:
            return widen(entry)
        case "retry" if note.code == UNLOADED:
            return f"load the model {at} and keep it there, or let that server load it just in time"
        case "retry" if note.code == _LATE_QUESTION:
            return f"see whether the server {at} is busy or loads the model; until it answers, words alone do"
        case "retry" if note.code == LATE:
            return (
                f"see whether the server {at} is busy or loads the model; give it more than {entry.deadline:g} s"
                " (`timeout` of its entry in memhold.toml), or name a faster model"
            )
        case "retry" if note.status is None and entry.served_locally:
            return f"start the server {at}, or name another model"
        case "retry" | "resample":
            return "it is asked again by itself"
        case _:
            return "name another model, or change its entry"

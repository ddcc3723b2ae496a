"""Two published data sets of long conversations: LoCoMo and RealMem.

LoCoMo: Maharana et al., "Evaluating Very Long-Term Conversational Memory of LLM Agents", 2024. RealMem: RealMemBench.
Their times name no zone; the importer's caller does (`zone`). Every message of a session has the session's time.
Answers and gold evidence are never imported.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, tzinfo
from typing import Any

from memhold.transfer.items import Conversation, Item, session_name
from memhold.transfer.source import Source
from memhold.values.errors import InvalidInput

__all__ = ["locomo_time", "read_locomo", "read_realmem", "realmem_time"]

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_LOCOMO_TIME = re.compile(
    r"(\d{1,2}):(\d{2})\s*([ap])\.?m\.?\s+on\s+(\d{1,2})\s+([a-z]{3})[a-z]*,?\s+(\d{4})", re.ASCII
)
_REALMEM_TIME = re.compile(r"(\d{4})-(\d{2})-(\d{2})\D*?(?:(\d{1,2}):(\d{2})(?::(\d{2}))?)?\s*", re.ASCII)
_SESSION = re.compile(r"session_(\d+)")


def read_locomo(source: Source) -> Iterator[Item]:
    """One session for each `session_N` of each sample, by number.

    The first speaker is the user, the second the assistant, and their names stay with each message (`name`). The
    caption of a shared picture is part of the text, its address metadata; `dia_id` is the `source_id`.
    """
    for piece in source.pieces():
        sample = piece.value
        conversation = sample.get("conversation") if isinstance(sample, dict) else None
        if not isinstance(conversation, dict):
            source.bad(piece.line, "it is not a sample with a `conversation`")
            continue
        name = sample.get("sample_id")
        ident = name if isinstance(name, str) and name else f"{source.path.stem}-{piece.index}"
        numbers = sorted(int(found[1]) for key in conversation if (found := _SESSION.fullmatch(key)))
        for number in numbers:
            session = session_name(ident, f"session_{number}")
            whole = Conversation(source=source, kind="locomo", ident=ident, line=piece.line, session=session)
            with source.naming(piece.line, f"{ident}, session_{number}: "):
                yield from _locomo_session(whole, conversation, number)


def _locomo_session(whole: Conversation, conversation: Mapping[str, Any], number: int) -> Iterator[Item]:
    moment = locomo_time(conversation.get(f"session_{number}_date_time"), whole.source.zone)
    turns = conversation[f"session_{number}"]
    if not isinstance(turns, list):
        raise InvalidInput("it is not a list of turns")
    for place, turn in enumerate(turns):
        speaker = turn.get("speaker") if isinstance(turn, dict) else None
        if not isinstance(speaker, str):
            whole.source.bad(whole.line, f"{whole.ident}, session_{number}, turn {place}: there is no `speaker`")
            continue
        dia = turn.get("dia_id")
        role = "assistant" if speaker == conversation.get("speaker_b") else "user"
        item = whole.item(
            dia if isinstance(dia, str) else f"{number}:{place}",
            {"role": role, "name": speaker, "content": _with_caption(turn)},
            at=moment,
            images=turn.get("img_url"),
        )
        if item is not None:
            yield item


def _with_caption(turn: Mapping[str, Any]) -> Any:
    caption, text = turn.get("blip_caption"), turn.get("text")
    if not isinstance(caption, str) or not caption.strip():
        return text
    return f"{text}\n[image: {caption}]" if text else f"[image: {caption}]"


def locomo_time(value: Any, zone: tzinfo) -> datetime:
    """A time such as "1:56 pm on 8 May, 2023", in that zone, as aware UTC.

    Raises:
        InvalidInput: it is written in another way.
    """
    found = _LOCOMO_TIME.fullmatch(value.strip().lower()) if isinstance(value, str) else None
    if found is None or found[5] not in _MONTHS or not 1 <= int(found[1]) <= 12:
        raise InvalidInput(f"{value!r:.60} is not a time such as '1:56 pm on 8 May, 2023'")
    hour = int(found[1]) % 12 + (12 if found[3] == "p" else 0)
    return _moment(zone, int(found[6]), _MONTHS.index(found[5]) + 1, int(found[4]), hour, int(found[2]))


def read_realmem(source: Source) -> Iterator[Item]:
    """One session for each of `dialogues`; `current_time` is a date, and means the beginning of that day.

    A turn's `query_id` and `is_query` become metadata; its `source_id` is the session's id and its place.
    """
    for piece in source.elements("dialogues"):
        session = piece.value
        turns = session.get("dialogue_turns") if isinstance(session, dict) else None
        if not isinstance(turns, list):
            source.bad(piece.line, "it is not a dialogue with `dialogue_turns`")
            continue
        ident = session.get("session_uuid")
        if not isinstance(ident, str) or not ident:
            source.bad(piece.line, "the dialogue has no `session_uuid`")
            continue
        whole = Conversation(source=source, kind="realmem", ident=ident, line=piece.line)
        with source.naming(piece.line, f"dialogue {ident:.80}: "):
            yield from _realmem_turns(whole, turns, realmem_time(session.get("current_time"), source.zone))


def _realmem_turns(whole: Conversation, turns: list[Any], moment: datetime) -> Iterator[Item]:
    for place, turn in enumerate(turns):
        speaker = turn.get("speaker") if isinstance(turn, dict) else None
        if not isinstance(speaker, str):
            whole.source.bad(whole.line, f"dialogue {whole.ident:.80}, turn {place}: there is no `speaker`")
            continue
        role = speaker.lower() if speaker.lower() in {"user", "assistant"} else None
        body: dict[str, Any] = {"role": role or "user", "content": turn.get("content")}
        if role is None:
            body["name"] = speaker
        told = {name: turn[name] for name in ("query_id", "is_query") if turn.get(name)}
        item = whole.item(f"{whole.ident}:{place}", body, at=moment, **told)
        if item is not None:
            yield item


def realmem_time(value: Any, zone: tzinfo) -> datetime:
    """A day such as "2025-12-15 (Monday)", with or without an hour, in that zone, as aware UTC.

    Raises:
        InvalidInput: it is written in another way.
    """
    found = _REALMEM_TIME.fullmatch(value.strip()) if isinstance(value, str) else None
    if found is None:
        raise InvalidInput(f"{value!r:.60} is not a day such as '2025-12-15 (Monday)'")
    return _moment(zone, *(int(part or 0) for part in found.groups()))


def _moment(zone: tzinfo, year: int, month: int, day: int, hour: int, minute: int, second: int = 0) -> datetime:
    try:
        return datetime(year, month, day, hour, minute, second, tzinfo=zone).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise InvalidInput(f"there is no such time: {error}") from None

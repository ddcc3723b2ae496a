"""From the signals' scores to an order: what the filters let through, current before past, the nearest to fill up."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

from memhold.facts.outdated import End, Outdated
from memhold.index.documents import ASKING, KIND_OF, ROLE_OF
from memhold.index.postings_arrays import DecodedIndex
from memhold.index.repeats import leading, one_a_message, repeats_of
from memhold.index.words import WordScores
from memhold.ports.postings import term_key
from memhold.recall.answering import Gaps, Ranking
from memhold.recall.confidence import LOOKED_AT, Evidence, shortfall
from memhold.recall.fusion import WEIGHTS, Fused, Signal
from memhold.recall.newer import lift_newer, sink_given_up
from memhold.recall.signals import MEANS_IT, Near, Question
from memhold.recall.told import Told

if TYPE_CHECKING:
    from memhold.values.arrays import Floats, Mask

__all__ = [
    "MOVES",
    "RERANK",
    "View",
    "asked_ends",
    "evidence_of",
    "newest_first",
    "ordered",
    "reranked",
    "with_followers",
    "with_nearest",
]

AS_MUCH = 0.75
"""From this share on of what the best message says of the question a newer one is about the same (decision 0003)."""
AS_NEAR = 0.9
"""The same of its nearness: cosines of what is near lie closer together than shares of words."""
ANSWERED = 3
"""So many of the best hits bring their answers, where they are questions."""
RERANK = "rerank"
"""The name under which a reranker's order stands among the reasons, and in `degraded`."""
OUTDATED = "outdated"
MOVES = ("follows", "given up", OUTDATED, "newer", "answers", "asker")
"""What moves a hit beside the signals, in this order: it came after something that was found; the conversation went on
without it; what it says was replaced; it is newer than the best; it answers one of the best; whoever asks about
themselves said something that stands before what it says of somebody else."""
_AT_ONCE = 256
"""Rows whose items are looked at together, where only the items tell whether a filter lets them through."""


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """A scope as one question sees it, before any filter: its index, each signal's scores, and their sum.

    `nearer` is what is found because it is nearer than the rest, where anything is found at all. `mine` is what whoever
    asks said, and `others` what other people did, where they ask about themselves.
    """

    index: DecodedIndex
    question: Question
    gaps: Gaps
    scores: WordScores
    speaker: Signal | None = None
    mine: Mask | None = None
    others: Mask | None = None
    near: Near | None = None
    signals: Sequence[Signal] = ()
    weights: Mapping[str, float] = field(default_factory=lambda: WEIGHTS)
    fused: Fused | None = None
    nearer: Mask | None = None
    told: Told = field(default_factory=Told)


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What orders beside the scores: `past` ranks behind what replaced it.

    `now` says that it is asked what holds now: then the newer stands above the older. `behind` is what others say of
    themselves where whoever asks asks about themselves, `ends` which of the values that hold no longer is asked for
    (`asked_ends`).
    """

    past: Mapping[int, Outdated]
    now: bool
    behind: Mask | None
    ends: Mapping[int, End]


def ordered(view: View, fused: Fused, allowed: Mask, found: Mask, standing: Standing, most: int | None) -> Ranking:
    """The order of what was found and may be shown.

    `allowed` is what the filters let through, `found` what the signals found, `most` is how far the order must reach
    (None: to its end).
    """
    past, behind, ends = standing.past, standing.behind, standing.ends
    index, near = view.index, view.near
    hit = found & allowed
    stages = [fused.score if view.fused is None else view.fused.score, fused.score]
    score = fused.score.copy()
    # By all that was found, whatever the filters: they change no score.
    sink_given_up(index, score, found & index.living)
    stages.append(score.copy())
    _demote(index, score, found & index.living, ends)
    stages.append(score.copy())
    if standing.now:
        about, as_much = partial(_about, view), partial(_as_much, view)
        lift_newer(view.question, index, score, found & index.living, about=about, as_much=as_much)
    stages.append(score.copy())
    _answer_first(index, score, hit, allowed)
    stages.append(score.copy())
    if behind is not None and view.others is not None:
        _set_behind(score, found & index.living & behind, _theirs(view, found & index.living))
    moved, weights = _with_moves(view.weights, _moves([*stages, score]))
    repeats = repeats_of(index)
    hit = one_a_message(index, score, hit, view.scores.own)
    folded = view.told.repeated(score, hit)
    hit[[*folded]] = False
    order = leading(score, hit, repeats, most)
    return Ranking(
        index=index,
        order=order,
        score=score,
        signals=[*view.signals, *moved],
        weights=weights,
        allowed=allowed,
        words=view.scores,
        total=repeats.count(hit),
        hit=hit,
        repeats=repeats,
        outdated=past,
        ends=ends,
        folded=folded,
        question=view.question,
        sentences=None if near is None else near.sentences,
    )


def _moves(stages: Sequence[Floats]) -> list[tuple[Signal, float]]:
    """What each step of `MOVES` did to the scores beside the signals' sum, with its weight: each row's part of it.

    So the parts of a hit add up to its score. A step raises or lowers, never both; one that moved nothing is left out.
    """
    steps = zip(MOVES, pairwise(stages), strict=True)
    return [move for name, (before, after) in steps for move in _move(name, after - before)]


def _with_moves(
    weights: Mapping[str, float], moves: Sequence[tuple[Signal, float]]
) -> tuple[list[Signal], Mapping[str, float]]:
    """The signals of some moves, and the weights with theirs."""
    return [signal for signal, _ in moves], {**weights, **{signal.name: weight for signal, weight in moves}}


def _move(name: str, by: Floats) -> list[tuple[Signal, float]]:
    """What a step did to the scores as a signal and its weight; nothing where it moved none."""
    import numpy as np

    most = by[np.abs(by).argmax()] if len(by) else np.float32(0)
    if not most:
        return []
    return [(Signal(name=name, score=by / most, found=np.zeros(len(by), dtype=np.bool_)), float(most))]


def with_followers(fused: Fused, index: DecodedIndex, ends: Mapping[int, End], told: Told) -> Fused:
    """What is found brings along what came after it, with no lower a score, and a memory the messages that it quotes.

    Whoever asks in the words of what was so finds what is so now, though it shares none of them. What is known is found
    by how it is told, and so are the words that it was learnt from. Values of the time that is asked for come before
    those of today.
    """
    score, found = fused.score.copy(), fused.found.copy()
    for number, end in ends.items():
        old = index.rows_of([number])
        if not (fused.found & index.active)[old].any():
            continue
        for rows in (index.rows_of([end.new]), index.rows_of(end.said)):
            there = rows[index.living[rows]]
            if len(there):
                row = there[score[there].argmax()]
                score[row], found[row] = max(score[row], fused.score[old[0]]), True
    told.then.lift(index, score, found)
    told.lift(score, found, index.active | told.then.rows(index))
    return Fused(score=score, found=found)


def asked_ends(index: DecodedIndex, past: Mapping[int, Outdated], score: Floats) -> dict[int, End]:
    """By document number which of the values that it says and that hold no longer is asked for, if one of them is.

    A message says several things. Where what else was learnt from it answers better, it is as good as it was.
    """
    named = {number for one in past.values() for end in one.ends for number in (end.old, end.new)}
    rows = index.rows_of(sorted(named.union(*(one.beside for one in past.values()))))
    scores: dict[int, float] = dict(zip(index.numbers[rows].tolist(), score[rows].tolist(), strict=True))

    def best(*numbers: int) -> float:
        return max((scores.get(number, 0.0) for number in numbers), default=0.0)

    found = {}
    for one in past.values():
        asked = max(one.ends, key=lambda end: best(end.old, end.new))
        if best(asked.old, asked.new) >= best(*one.beside):
            found[one.number] = asked
    return found


def reranked(ranking: Ranking, told: Mapping[int, float]) -> Ranking:
    """The ranking with some of its first rows in the order in which a reranker put them, by its scores.

    They take each other's scores, so nothing else moves, and what was replaced stays behind what replaced it. What this
    added to a hit, or took from it, is the part of its reason.
    """
    import numpy as np

    first = np.array([row for row in ranking.order.tolist() if row in told], dtype=np.int64)
    judged = first[np.argsort([-told[row] for row in first.tolist()], kind="stable")]
    score = ranking.score.copy()
    score[judged] = -np.sort(-ranking.score[first])
    # Of equal scores the one that was judged better stands first, and no later rule sees a tie.
    for above, below in pairwise(judged.tolist()):
        score[below] = min(score[below], np.nextafter(score[above], np.float32(-1)))
    moved, ahead = score - ranking.score, score.copy()
    _demote(ranking.index, score, ranking.hit & ranking.index.living, ranking.ends)
    signals = [one for one in ranking.signals if one.name != OUTDATED]
    before = [one.score * ranking.weights[OUTDATED] for one in ranking.signals if one.name == OUTDATED]
    sunk = sum(before, score - ahead)
    outdated, weights = _with_moves(ranking.weights, _move(OUTDATED, sunk))
    order = ranking.order[np.argsort(-score[ranking.order], kind="stable")]
    places = np.zeros(len(score), dtype=np.float32)
    places[judged] = 1 - np.arange(len(judged), dtype=np.float32) / max(1, len(judged))
    signal = Signal(name=RERANK, score=places, found=np.zeros(len(score), dtype=np.bool_))
    return replace(
        ranking,
        order=order,
        score=score,
        signals=[*signals, *outdated, signal],
        weights={**weights, RERANK: 0.0},
        parts={RERANK: moved},
    )


def with_nearest(ranking: Ranking, limit: int, passing: Callable[[Mask], Mask]) -> Ranking:
    """The ranking with its first page filled up to a limit with what no signal found, the nearest first.

    `passing` keeps of some rows those that the filters let through. What was found stands before it whatever its
    score, and the pages behind the first end with it.
    """
    import numpy as np

    assert ranking.repeats is not None  # noqa: S101 - only `newest_first` makes one without, and it holds everything
    # What only quotes this store says nothing; a document that is not to be indexed is there where they are asked for.
    says = (ranking.index.columns["length"] > 0) | (ranking.index.columns["kind"] == KIND_OF["document"])
    # A hit comes before whatever else is known of its message.
    best = np.where(ranking.hit, np.float32(np.inf), ranking.score)
    others = one_a_message(ranking.index, best, ranking.hit | (ranking.allowed & says)) & ~ranking.hit
    others[[*ranking.folded]] = False
    rest = leading(ranking.score, others, ranking.repeats)
    shown = set(ranking.repeats.group[ranking.order].tolist()) - {-1}
    near: list[int] = []
    for start in range(0, len(rest), _AT_ONCE):
        if len(near) >= limit - len(ranking.order):
            break
        some = rest[start : start + _AT_ONCE]
        mask = np.zeros(len(ranking.index), dtype=np.bool_)
        mask[some] = True
        kept = passing(mask)
        near += [row for row in some[kept[some]].tolist() if int(ranking.repeats.group[row]) not in shown]
    return replace(ranking, near=np.array(near[: max(0, limit - len(ranking.order))], dtype=np.int64))


def _answer_first(index: DecodedIndex, score: Floats, hit: Mask, allowed: Mask) -> None:
    """Put what was said to the best hits that only ask above each: who asks again wants the answer."""
    import numpy as np

    asking = index.find(np.array([term_key(ASKING)], dtype=np.uint64))
    ends = set(asking.row[asking.frequency > 1].tolist())
    asked = set(asking.row[asking.frequency > 2].tolist())
    best = np.argsort(np.where(hit, -score, np.inf), kind="stable")[:ANSWERED].tolist()
    columns, speaks = index.columns, {ROLE_OF[name] for name in ("user", "participant", "assistant")}
    messages = (columns["kind"] == KIND_OF["message"]) & index.living
    for row in (one for one in best if hit[one] and one in asked):
        said = messages & (columns["session"] == columns["session"][row]) & (columns["seq"] > columns["seq"][row])
        rows = np.flatnonzero(said)
        rows = rows[np.argsort(columns["seq"][rows], kind="stable")]
        again = np.flatnonzero(columns["role"][rows] == columns["role"][row])
        run = [one for one in rows[: again[0] if len(again) else None].tolist() if columns["role"][one] in speaks]
        if not run:
            continue
        # An agent calls its tools first, and answers at last.
        answer = run[-1] if columns["role"][run[-1]] == ROLE_OF["assistant"] else run[0]
        if allowed[answer] and answer not in ends:
            score[answer] = max(score[answer], np.nextafter(score[row], np.float32(np.inf)))
            hit[answer] = True


def _theirs(view: View, found: Mask) -> Mask:
    """What was found that whoever asks said; where that is nothing, what no other person did."""
    assert view.mine is not None and view.others is not None  # noqa: S101, PT018 - of a question about themselves
    found = found & (view.index.columns["kind"] != KIND_OF["instruction"])  # its message says it
    mine = found & view.mine
    return mine if mine.any() else found & ~view.others


def _set_behind(score: Floats, others: Mask, own: Mask) -> None:
    """Put what others say of themselves behind the best of one's own, in the order in which it stands."""
    import numpy as np

    best = score[own].max(initial=0)
    rows = np.flatnonzero(others & (score >= best))
    if not best or not len(rows):
        return
    below = best
    for row in rows[np.argsort(-score[rows], kind="stable")].tolist():
        below = score[row] = np.nextafter(below, np.float32(-1))


def _whole(near: Near) -> Floats:
    return near.cosines if near.middle is None else near.middle


def _about(view: View, row: int) -> bool:
    """Whether a row itself has a word of the question that says something, or a sentence that is near."""
    near = view.near is not None and bool(view.near.held[row]) and bool(view.near.cosines[row] >= MEANS_IT)
    return near or view.scores.share([row]) > 0


def _as_much(view: View, row: int, other: int) -> bool:
    """Whether a row itself says about as much of what is asked as another: in the question's words, or by nearness."""
    near = view.near
    if near is not None and near.held[row] and near.cosines[row] >= max(MEANS_IT, AS_NEAR * near.cosines[other]):
        return True
    said = view.scores.share([row])
    return said > 0 and said >= AS_MUCH * view.scores.share([other])


def evidence_of(view: View, ranking: Ranking) -> Evidence | None:
    """What the best of a ranking, found or only near, tell of whether the answer is there; None without a question."""
    if view.fused is None:
        return None
    near, rows = view.near, [*ranking.order.tolist(), *ranking.filling]
    if view.others is not None:  # what others say of themselves answers nothing that is asked of one's own
        own = _theirs(view, ranking.hit)
        rows = [row for row in rows if own[row]]
    best = rows[:LOOKED_AT]
    # The best hit may be too fresh to have a vector: then its words are believed.
    known = near is not None and bool(near.held[best[:1]].all())
    key = next((signal for signal in view.signals if signal.name == "key"), None)
    return Evidence(
        rows=tuple(best),
        share=view.scores.share(best),
        cosine=float(_whole(near)[best].max(initial=0)) if near is not None and known else None,
        documents=int(view.index.living.sum()),
        told=0.0 if key is None else float(key.score[best].max(initial=0)),
        short=_short(view, view.fused.score, ranking.hit) if view.others is None else 0.0,
    )


def _short(view: View, score: Floats, hit: Mask) -> float:
    """How far the best hit of those whom the question names stays behind; that they are preferred does not count.

    A memory is nobody's: what was learnt counts for whoever is asked about.
    """
    import numpy as np

    speaker = view.speaker
    if speaker is None or not hit.any():
        return 0.0
    preferred = any(signal is speaker for signal in view.signals)
    plain = score - speaker.score * np.float32(view.weights["speaker"]) if preferred else score
    theirs = plain[hit & ((speaker.score > 0) | (view.index.columns["kind"] != KIND_OF["message"]))]
    return shortfall(float(theirs.max(initial=0)), float(plain[hit].max()))


def _demote(index: DecodedIndex, score: Floats, found: Mask, ends: Mapping[int, End]) -> None:
    """What rests on a superseded value ranks after what replaced it, and after the best message that says so."""
    import numpy as np

    for number, end in ends.items():
        old = index.rows_of([number])
        if not found[old].any():
            continue
        new, said = index.rows_of([end.new]), index.rows_of(end.said)
        later = [rows[found[rows]] for rows in (new, said) if found[rows].any()]
        if later:
            least = min(score[rows].max() for rows in later)
            score[old] = min(score[old[0]], np.nextafter(least, np.float32(-1)))


def newest_first(index: DecodedIndex, allowed: Mask, past: Mapping[int, Outdated]) -> Ranking:
    """Everything that may be shown, where nothing is asked."""
    import numpy as np

    # Of what several wrote of a message a person's words stand for it.
    allowed = one_a_message(index, -index.columns["role"].astype(np.float32), allowed)
    rows = np.flatnonzero(allowed)
    order = rows[np.lexsort((-rows, -index.columns["event_time"][rows]))]
    score = np.zeros(len(index), dtype=np.float32)
    score[order] = (1 / np.arange(1, len(order) + 1)).astype(np.float32)
    return Ranking(
        index=index,
        order=order,
        total=len(order),
        score=score,
        signals=[Signal(name="recency", score=score, found=allowed)],
        weights={"recency": 1.0},
        allowed=allowed,
        hit=allowed,
        outdated=past,
    )

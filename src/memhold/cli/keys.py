"""`memhold keys`: why two keys are or are not one concept."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from memhold.cli.options import CommonOptions, command
from memhold.cli.output import clean
from memhold.facts.keys import (
    Key,
    Pair,
    Verdict,
    canonical,
    compare,
    lowest_safe_threshold,
    measure,
    pairs_from,
    threshold_of,
)
from memhold.values.errors import UnreadableImport

if TYPE_CHECKING:
    from memhold.ports.models import EmbeddingModel

__all__ = ["judged", "keys_command"]

BATCH = 64


def judged(pairs: Sequence[Pair], embedding: EmbeddingModel | None, threshold: float | None) -> dict[str, Any]:
    """The report on a file of pairs as one plain object.

    With an embedding it tells the lowest threshold without a false merge on these pairs. It judges with `threshold`
    where one is given, else with the one that is shipped for the embedding; without one nothing is lifted. Each key
    is embedded once, alone, without a value.
    """
    if embedding is None:
        return {"embedding": "none", "threshold": None, **measure(pairs).as_json()}
    similarity = _similarities(pairs, embedding)
    safe = lowest_safe_threshold(pairs, similarity)
    bound = threshold_of(embedding.fingerprint) if threshold is None else {"en": threshold}

    def judge(a: Key, b: Key) -> Verdict:
        return compare(a, b, similarity=similarity(a, b), threshold=bound)

    hardest = safe.hardest
    return {
        "embedding": embedding.fingerprint,
        "threshold": None if bound is None else bound.get("en"),
        "lowest_safe_threshold": safe.value,
        "hardest": None if hardest is None else [hardest.a.attribute, hardest.b.attribute, round(safe.similarity, 4)],
        **measure(pairs, judge).as_json(),
    }


def _similarities(pairs: Sequence[Pair], embedding: EmbeddingModel) -> Callable[[Key, Key], float]:
    """The cosine of two keys of these pairs, from one vector a key."""
    texts = sorted({key.text for pair in pairs for key in (pair.a, pair.b)})

    async def embedded() -> dict[str, Any]:
        found: dict[str, Any] = {}
        for start in range(0, len(texts), BATCH):
            part = texts[start : start + BATCH]
            found.update(zip(part, await embedding.embed(part, purpose="document"), strict=True))
        return found

    vectors = asyncio.run(embedded())
    return lambda a, b: float(vectors[a.text] @ vectors[b.text])


@click.group("keys", epilog='Example: memhold keys compare "cat name" "name of the cat"')
def keys_command() -> None:
    """Explain when two keys are one concept."""


@command("compare", example='memhold keys compare "mother\'s name" "grandmother\'s name"')
@click.argument("keys", nargs=-1, metavar="A B")
@click.option("--pairs", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="Judge a file of pairs.")
@click.option("--embedding", default="none", metavar="NAME", help="none, builtin, a directory, or a catalog name.")
@click.option(
    "--threshold", type=click.FloatRange(0, 1), help="Judge with this one. [default: the one shipped for the embedding]"
)
def keys_compare(
    common: CommonOptions, *, keys: tuple[str, ...], pairs: Path | None, embedding: str, threshold: float | None
) -> None:
    """Say whether two keys are one concept, and why.

    With --pairs it judges a JSON Lines file of pairs (a, b, label) and prints counts, each false merge and each missed
    pair with its reason; with an embedding also the lowest threshold without a false merge on those pairs. Below the
    threshold nothing is merged for being similar, and no similarity overrules a veto.
    """
    if (pairs is None) == (len(keys) != 2):
        raise click.UsageError("pass two keys, or --pairs FILE")
    model = None
    if embedding != "none":
        from memhold.wiring import key_embedding

        model = key_embedding(embedding)
    if pairs is not None:
        report = judged(_read_pairs(pairs), model, threshold)
        common.show(report, lambda: _show_report(report))
        return
    a, b = (canonical(None, key) for key in keys)
    similarity = None if model is None else _similarities([Pair(a=a, b=b, label="same")], model)(a, b)
    bound = threshold if threshold is not None or model is None else threshold_of(model.fingerprint)
    verdict = compare(a, b, similarity=similarity, threshold=bound)
    answer = {
        "a": a.text,
        "b": b.text,
        "verdict": verdict.same,
        "rule": verdict.rule,
        "reason": verdict.reason,
        "left_a": list(verdict.left_a),
        "left_b": list(verdict.left_b),
        "language": verdict.language,
        "liftable": verdict.liftable,
        "similarity": None if similarity is None else round(similarity, 4),
    }
    common.show(answer, lambda: click.echo(f"{verdict.same} · {verdict.rule} · {clean(verdict.reason, 300)}"))


keys_command.add_command(keys_compare)


def _read_pairs(path: Path) -> list[Pair]:
    try:
        return pairs_from(path.read_text(encoding="utf-8").splitlines())
    except UnicodeDecodeError as error:
        raise UnreadableImport(f"{path} is not UTF-8 text", path=str(path), line=0) from error


def _show_report(report: Mapping[str, Any]) -> None:
    click.echo(
        f"{report['recognised']} of {report['same']} same recognised ({report['recognised_share']:.1%}), "
        f"{len(report['false_merges'])} of {report['different']} different merged, {report['unsure']} unsure"
    )
    if report["embedding"] != "none":
        lowest = report["lowest_safe_threshold"]
        click.echo(f"{report['embedding']}: threshold {report['threshold']}, lowest without a false merge {lowest}")
    for name in ("false_merges", "missed"):
        for row in report[name]:
            line = f"{row['a']} / {row['b']}: {row['rule']}: {row['reason']}"
            click.echo(f"{name.replace('_', ' ')}: {clean(line, 300)}")

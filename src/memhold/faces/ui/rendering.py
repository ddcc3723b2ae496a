"""Templates, and how times, names and numbers are written on a page."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final

from starlette.responses import Response

from memhold.values.answers import missing_sentences

if TYPE_CHECKING:
    from jinja2 import Environment

__all__ = ["ASSETS", "HEADERS", "PAGES", "ago", "asset", "exact", "html", "model_name", "size", "who"]

ASSETS: Final[Mapping[str, str]] = {
    "page.css": "text/css; charset=utf-8",
    "page.js": "text/javascript; charset=utf-8",
    "htmx.min.js": "text/javascript; charset=utf-8",
    "icon.svg": "image/svg+xml",
}
"""What the pages load, and its type. There is nothing else, and nothing from anywhere else."""

PAGES: Final = (
    ("/ui", "Now", "n"),
    ("/ui/recall", "Recall", "r"),
    ("/ui/sessions", "Sessions", "s"),
    ("/ui/settle", "To settle", "t"),
    ("/ui/forget", "Forget", "f"),
    ("/ui/health", "Health", "h"),
)
"""The pages that the navigation names: path, name, and the letter that goes there behind a "g"."""

HEADERS: Final[Mapping[str, str]] = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self';"
        " form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "cache-control": "no-store",
    # With "no-referrer" a browser hides the origin of its own forms, and the guard could not know them.
    "referrer-policy": "same-origin",
    "x-content-type-options": "nosniff",
}
"""The headers of every page: nothing runs that stands in a page, nothing is kept, nothing goes elsewhere."""

_SPANS: Final = ((31_557_600, "year"), (2_629_800, "month"), (604_800, "week"), (86_400, "day"), (3_600, "hour"),
                 (60, "minute"))  # fmt: skip
_PEOPLE: Final[Mapping[str, str]] = {
    "user": "told by the user",
    "agent": "noted by an agent",
    "tool": "from a tool",
    "import": "imported",
    "rules": "found by rules",
    "model": "found by a model",
}


def ago(at: datetime, now: datetime) -> str:
    """A time as a person says it: "3 days ago", "in 2 hours", "just now"."""
    seconds = (now - at).total_seconds()
    for size, name in _SPANS:
        count = int(abs(seconds) // size)
        if count:
            several = f"{count} {name}{'' if count == 1 else 's'}"
            return f"{several} ago" if seconds > 0 else f"in {several}"
    return "just now"


def exact(at: datetime) -> str:
    """A time to the second, with its zone."""
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


def size(count: int) -> str:
    """Bytes as a person reads them."""
    number = float(count)
    for unit in ("bytes", "KB", "MB", "GB"):
        if number < 1000 or unit == "GB":
            return f"{number:,.0f} {unit}" if unit == "bytes" or number >= 10 else f"{number:,.1f} {unit}"
        number /= 1000
    raise AssertionError


def who(origin: str, actor: str | None = None) -> str:
    """Who said something, in words."""
    said = _PEOPLE.get(origin, origin)
    return f"{said}: {model_name(actor)}" if actor and origin != "user" else said


def model_name(name: str) -> str:
    """What a model is called, without the address of its server: "http://127.0.0.1:8787/v1#qwen" is "qwen"."""
    place, mark, model = name.partition("#")
    return model if mark and model and place.startswith(("http://", "https://")) else name


@cache
def asset(name: str) -> bytes:
    """The bytes of a file that the pages load.

    Raises:
        KeyError: there is no such file.
    """
    if name not in ASSETS:
        raise KeyError(name)
    return files("memhold.faces.ui").joinpath("assets", name).read_bytes()


def html(
    template: str, values: Mapping[str, Any], *, status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    """A template, filled in, as an answer; text stays text, whatever it holds."""
    body = _environment().get_template(template).render(values)
    # Half of a pair is no UTF-8, and a model may have written one.
    raw = body.encode("utf-8", "replace")
    return Response(raw, status, headers={**HEADERS, **(headers or {})}, media_type="text/html")


@cache
def _environment() -> Environment:
    # Loaded when the first page is asked for: a server that nobody looks at needs none of it.
    from jinja2 import Environment, PackageLoader, StrictUndefined

    made = Environment(
        loader=PackageLoader("memhold.faces.ui"), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True,
    )  # fmt: skip
    made.filters["exact"] = exact
    made.filters["who"] = lambda one: who(one.origin, one.actor)
    made.filters["model"] = model_name
    made.filters["thousands"] = lambda count: f"{count:,}"
    made.filters["iso"] = lambda at: at.astimezone(UTC).isoformat()
    made.filters["size"] = size
    made.globals["ago"] = ago
    made.globals["missing"] = missing_sentences
    made.globals["pages"] = PAGES
    return made

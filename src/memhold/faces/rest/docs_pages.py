"""Two pages for a person with a browser: what this server is, and its operations as its OpenAPI tells them.

They hold no script and ask nobody for anything: what they show is the same for every server of a release, and nothing
of anybody.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any, Final

__all__ = ["DOCS", "FIRST", "PAGE_HEADERS", "docs_page", "first_page"]

FIRST: Final = "/"
DOCS: Final = "/docs"
PAGE_HEADERS: Final = {
    "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'"
}
_STYLE: Final = (
    "body{font:1rem/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}"
    "body{color:#1b1b1b;background:#fff}"
    "code,pre{font:.9em ui-monospace,monospace}pre{padding:.5rem;background:#f3f3f3;overflow:auto}"
    "summary{cursor:pointer;padding:.2rem 0}td,th{text-align:left;vertical-align:top;padding:.1rem 1rem .1rem 0}"
    "@media(prefers-color-scheme:dark){body{color:#e6e6e6;background:#161616}pre{background:#242424}a{color:#8ab4f8}}"
)
_LINES: Final = (
    ("/docs", "every operation of the REST API, with its parameters and examples"),
    ("/ui", "the page for people: what is remembered, and what became of it"),
    ("/openapi.json", "the same operations for programs; needs a token"),
    ("/mcp", "the tools for agents, over MCP's streamable HTTP; needs a token"),
    ("/healthz", "whether the process answers"),
    ("/readyz", "whether a save would last now"),
)


def first_page() -> str:
    """What this is, and where to go on."""
    rows = "".join(
        f'<tr><td><a href="{path}"><code>{path}</code></a></td><td>{escape(said)}</td></tr>' for path, said in _LINES
    )
    return _page(
        "Memhold",
        "<p>This is Memhold: durable memory for AI agents. Programs reach it by REST under <code>/v1</code> and by MCP,"
        " each with a token of its own (<code>memhold token create</code>), in the header"
        " <code>Authorization: Bearer …</code>."
        f"</p><table>{rows}</table>",
    )


def docs_page(openapi: Mapping[str, Any]) -> str:
    """Every operation of an OpenAPI, by its tag: what it does, what it takes, what it answers."""
    parts = [f"<p>{escape(openapi['info']['description'])}</p>"]
    for tag in openapi["tags"]:
        parts.append(f"<h2>{escape(tag['name'])}</h2><p>{escape(tag['description'])}</p>")
        parts += [_operation(openapi, *one) for one in _operations(openapi, tag["name"])]
    return _page("Memhold: operations", "".join(parts))


def _operations(openapi: Mapping[str, Any], tag: str) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    for path, item in openapi["paths"].items():
        for method, operation in item.items():
            if tag in operation.get("tags", ()):
                yield method, path, operation


def _operation(openapi: Mapping[str, Any], method: str, path: str, said: Mapping[str, Any]) -> str:
    rows = [
        (one["name"], one["in"], one.get("required", False), one.get("schema", {}), one.get("description", ""))
        for one in said.get("parameters", ())
    ]
    examples: list[str] = []
    for content in said.get("requestBody", {}).get("content", {}).values():
        schema = _resolved(openapi, content.get("schema", {}))
        needed = schema.get("required", ())
        rows += [
            (name, "body", name in needed, one, one.get("description", ""))
            for name, one in schema.get("properties", {}).items()
        ]
        examples += [
            json.dumps(one["value"], indent=2, ensure_ascii=False) for one in content.get("examples", {}).values()
        ]
    answers = ", ".join(status for status in said.get("responses", {}) if status.startswith("2"))
    return (
        f'<details id="{escape(said["operationId"])}"><summary><code>{method.upper()} {escape(path)}</code> '
        f"{escape(said.get('summary', ''))}</summary><p>{escape(said.get('description', ''))}</p>{_table(rows)}"
        + "".join(f"<pre>{escape(one)}</pre>" for one in examples)
        + f"<p>Answers {answers}; problems (RFC 9457) for everything else.</p></details>"
    )


def _table(rows: Sequence[tuple[str, str, bool, Mapping[str, Any], str]]) -> str:
    if not rows:
        return ""
    lines = "".join(
        f"<tr><td><code>{escape(name)}</code></td><td>{where}{', needed' if needed else ''}</td>"
        f"<td>{escape(_type(schema))}</td><td>{escape(said)}</td></tr>"
        for name, where, needed, schema, said in rows
    )
    return f"<table><tr><th>name</th><th>where</th><th>type</th><th></th></tr>{lines}</table>"


def _type(schema: Mapping[str, Any]) -> str:
    if "enum" in schema:
        return " | ".join(json.dumps(one) for one in schema["enum"])
    if "anyOf" in schema:
        return " | ".join(dict.fromkeys(_type(one) for one in schema["anyOf"]))
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if schema.get("type") == "array":
        return f"list of {_type(schema.get('items', {})) or 'anything'}"
    found = schema.get("type", "")
    return " | ".join(found) if isinstance(found, list) else str(found)


def _resolved(openapi: Mapping[str, Any], schema: Mapping[str, Any]) -> Mapping[str, Any]:
    if "$ref" in schema:
        found: Mapping[str, Any] = openapi["components"]["schemas"][str(schema["$ref"]).rpartition("/")[2]]
        return found
    return schema


def _page(title: str, body: str) -> str:
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<style>{_STYLE}</style></head><body><h1>{title}</h1>{body}</body></html>"
    )

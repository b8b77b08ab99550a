"""The OpenAPI document as a page for people: static HTML, in which all text is escaped."""

import re
from collections.abc import Iterator
from html import escape
from typing import Any

from concord_gateway.http.schemas import (
    NOT_BLANK,
    PRINTABLE,
    PRINTABLE_NOT_BLANK,
    REF,
    Json,
)

_RANGES = (
    ("minLength", "maxLength", "characters"),
    ("minItems", "maxItems", "items"),
    ("minProperties", "maxProperties", "entries"),
    ("minimum", "maximum", ""),
)
_PATTERNS = {
    PRINTABLE: "no control characters",
    NOT_BLANK: "not blank",
    PRINTABLE_NOT_BLANK: "not blank, no control characters",
}


def html(document: Json) -> str:
    """The page: each method and each schema has an anchor, its full name."""
    return "".join(_page(document))


def _page(document: Json) -> Iterator[str]:
    paths, components = document["paths"], document["components"]
    title = escape(document["info"]["title"])
    yield (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}: contract'
        '</title><meta name="viewport" content="width=device-width, initial-scale=1">'
        '<link rel="stylesheet" href="/contract/style.css"></head><body><header>'
        f"<h1>{title}</h1>{_text(document['info']['description'])}<p>For generators of clients: "
        '<a href="/contract/openapi.json">OpenAPI</a>.</p></header><nav><h2>Services</h2>'
    )
    for tag in document["tags"]:
        links = " ".join(
            f'<a href="#{escape(_anchor(path))}">{escape(path.rpartition("/")[2])}</a>'
            for path, methods in paths.items()
            if methods["post"]["tags"] == [tag["name"]]
        )
        yield f"<h3>{escape(tag['name'])}</h3>{_text(tag.get('description', ''))}<p>{links}</p>"
    yield '<p><a href="#messages">Messages and enums</a> <a href="#errors">Errors</a></p></nav>'
    yield "<main><h2>Methods</h2>"
    for path, methods in paths.items():
        yield from _method(path, methods["post"])
    yield '<h2 id="messages">Messages and enums</h2>'
    for name, schema in components["schemas"].items():
        yield from _schema(name, schema)
    yield '<h2 id="errors">Errors</h2>'
    for name, example in components["responses"]["Error"]["content"]["application/json"][
        "examples"
    ].items():
        yield f"<h3 id={_quoted(name)}>{escape(name)}</h3>{_text(example['description'])}"
    yield "</main></body></html>"


def _method(path: str, method: Json) -> Iterator[str]:
    name, (scopes,) = _anchor(path), method["security"][0].values()
    yield f"<section id={_quoted(name)}><h3><a href={_quoted('#' + name)}>{escape(name)}</a></h3>"
    yield f"<p><code>POST {escape(path)}</code>, scope <code>{escape(' '.join(scopes))}</code></p>"
    yield _text(method.get("description", ""))
    sent = method["requestBody"]["content"]["application/json"]["schema"]
    ((media, reply),) = method["responses"]["200"]["content"].items()
    line = reply["schema"].get("properties", {}).get("result")
    many = f" as lines of <code>{escape(media)}</code>" if line else ""
    yield f"<p>{_type(sent)} → {_type(line or reply['schema'])}{many}</p></section>"


def _schema(name: str, schema: Json) -> Iterator[str]:
    yield f"<section id={_quoted(name)}><h3><a href={_quoted('#' + name)}>{escape(name)}</a></h3>"
    yield _text(schema.get("description", "") or ", ".join(schema.get("enum", ())))
    if fields := schema.get("properties"):
        required = schema.get("required", ())
        yield "<table><thead><tr><th>Field</th><th>Type</th><th>Meaning</th></tr></thead><tbody>"
        for field, each in fields.items():
            must = "<br>required" if field in required else ""
            limits = "".join(f"<br>{escape(limit)}" for limit in _limits(each))
            yield (
                f"<tr><td><code>{escape(field)}</code>{must}</td><td>{_type(each)}{limits}</td>"
                f"<td>{_text(each.get('description', ''))}</td></tr>"
            )
        yield "</tbody></table>"
    yield "</section>"


def _type(schema: Any) -> str:
    """A schema as markup: a link to that of a name, or the name of a type."""
    if "$ref" in schema:
        name = schema["$ref"].removeprefix(REF)
        short = name.removesuffix(".Input").rpartition(".")[2]
        return f"<a href={_quoted('#' + name)}>{escape(short)}</a>"
    if schema.get("type") == "array":
        return f"list of {_type(schema['items'])}"
    if isinstance(values := schema.get("additionalProperties"), dict):
        return f"map of {_type(values)}"
    kind = schema.get("type", "any JSON")
    shown = " or ".join(kind) if isinstance(kind, list) else kind
    form = schema.get("format") or schema.get("contentEncoding")
    return escape(f"{shown} ({form})" if form else shown)


def _limits(schema: Json) -> Iterator[str]:
    """What a field or its items must keep, as words."""
    for low, high, unit in _RANGES:
        least, most = schema.get(low), schema.get(high)
        if least is not None and most is not None:
            yield f"{least:,} to {most:,} {unit}"
        elif least is not None or most is not None:
            yield f"at least {least:,} {unit}" if most is None else f"at most {most:,} {unit}"
    if pattern := schema.get("pattern", "").removeprefix("^(?:"):
        bare = pattern.removesuffix("$").removesuffix("?").removesuffix(")")
        yield _PATTERNS.get(bare, f"matches {schema['pattern']}")
    for inner in (schema.get("items"), schema.get("additionalProperties")):
        if isinstance(inner, dict):
            yield from (f"each: {limit}" for limit in _limits(inner))


def _anchor(path: str) -> str:
    return path.removeprefix("/").replace("/", ".")


def _quoted(value: str) -> str:
    return f'"{escape(value)}"'


def _text(text: str) -> str:
    """Paragraphs, and lists of lines that begin with `- `; what stands in backticks is code."""
    return "".join(map(_block, text.split("\n\n"))) if text else ""


def _block(text: str) -> str:
    marked = re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))
    before, *items = re.split(r"(?:^|\n)- ", marked)
    shown = f"<p>{before}</p>" if before.strip() else ""
    return f"{shown}<ul>{''.join(f'<li>{item}</li>' for item in items)}</ul>" if items else shown

"""Write what is known of a dump's tables from the structs of inspector/facts: docs/dump.md and docs/dump.schema.json.

In docs/dump.md each table whose head names a kind of row (`| `frame` | …`) is written anew; all else there is written
by hand. A kind that is new needs the first line of its table, `| `new_kind` |`, at its place in that file:
`make reference` does the rest.
"""

import ast
import inspect
import json
import re
import sys
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Final

import msgspec
from msgspec.inspect import (
    BoolType,
    DictType,
    FloatType,
    IntType,
    LiteralType,
    NoneType,
    StrType,
    StructType,
    TupleType,
    Type,
    UnionType,
    VarTupleType,
    type_info,
)

from inspect_compile.facts import FACTS, TABLES, DynamoNode, Fact, Run, Shared, trials

DOCS: Final = Path(__file__).resolve().parent.parent / "docs"
REFERENCE: Final = DOCS / "dump.md"
SCHEMA: Final = DOCS / "dump.schema.json"

Kind = type[msgspec.Struct]

TABLE: Final = re.compile(r"^\| `(\w+)` \|.*\n(?:\|.*\n)*", re.MULTILINE)
HEADING: Final = re.compile(r"^#+ (.*)$", re.MULTILINE)
ROOTS: Final[tuple[Kind, ...]] = (*FACTS, Run, Shared)
RENAMED: Final[dict[Kind, str]] = {trials.Change: "program_change"}
"""Kinds of pieces whose class has a name that another kind of row has."""


def main() -> None:
    text = REFERENCE.read_text(encoding="utf-8")
    unplaced = sorted(set(KINDS) - set(TABLE.findall(text)))
    if unplaced:
        sys.exit(
            f"docs/dump.md has no table for {', '.join(unplaced)}: put the line | `{unplaced[0]}` | where it belongs"
        )
    REFERENCE.write_text(with_tables(text), encoding="utf-8")
    SCHEMA.write_text(schema_text(), encoding="utf-8")


def with_tables(text: str) -> str:
    """The text with the table of each of `KINDS` written anew."""
    places = {match[1]: _anchor(text[: match.start()]) for match in TABLE.finditer(text)}
    return TABLE.sub(lambda match: _table(match[1], places) if match[1] in KINDS else match[0], text)


def schema_text() -> str:
    """The JSON Schema of a whole dump: an object with a list of rows for each table, and the two single objects."""
    references, components = msgspec.json.schema_components(ROOTS, ref_template="#/$defs/{name}")
    of = dict(zip(ROOTS, references, strict=True))
    for kind in _with_pieces(ROOTS):
        component = components[kind.__name__]
        component["description"] = _one_line(inspect.getdoc(kind) or "")
        for name, told in descriptions(kind).items():
            place = component.get("properties", {}).get(name)
            if place is not None:
                place["description"] = told
    tables = {
        table: {"type": "array", "items": {"anyOf": [of[fact] for fact in facts]}} for table, facts in TABLES.items()
    }
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A dump of inspect-compile",
        "description": "Its tables by name, each a list of its rows (lines of a .jsonl file); run.json, shared.json.",
        "type": "object",
        "properties": {"run": of[Run], "shared": of[Shared], **tables},
        "$defs": components,
    }
    return json.dumps(schema, indent=1, ensure_ascii=False) + "\n"


@cache
def descriptions(kind: Kind) -> dict[str, str]:
    """Field → what its docstring says, as it stands in JSON: None is `null`."""
    told: dict[str, str] = {}
    for base in reversed(kind.__mro__):
        if issubclass(base, msgspec.Struct) and base is not msgspec.Struct:
            told |= _own_docstrings(base)
    return {name: _as_json(text) for name, text in told.items()}


@cache
def _own_docstrings(kind: Kind) -> dict[str, str]:
    (body,) = (
        node.body
        for node in ast.walk(ast.parse(inspect.getsource(sys.modules[kind.__module__])))
        if isinstance(node, ast.ClassDef) and node.name == kind.__name__
    )
    told: dict[str, str] = {}
    for field, below in pairwise(body):
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name) and isinstance(below, ast.Expr):
            told[field.target.id] = _one_line(str(ast.literal_eval(below.value)))
    return told


def _with_pieces(roots: tuple[Kind, ...]) -> list[Kind]:
    """These kinds and all that their fields hold, each once."""
    kinds: dict[Kind, None] = {}

    def add(of: Type) -> None:
        match of:
            case StructType(cls=kind):
                if kind not in kinds:
                    kinds[kind] = None
                    for field in of.fields:
                        add(field.type)
            case UnionType(types=types) | TupleType(item_types=types):
                for one in types:
                    add(one)
            case VarTupleType(item_type=item) | DictType(value_type=item):
                add(item)

    for root in roots:
        add(type_info(root))
    return list(kinds)


def _name(kind: Kind) -> str:
    if issubclass(kind, Fact):
        return str(kind.__struct_config__.tag)
    return RENAMED.get(kind) or re.sub(r"(?<!^)(?=[A-Z])", "_", kind.__name__).lower()


KINDS: Final = {_name(kind): kind for kind in _with_pieces(ROOTS) if kind is not DynamoNode}
"""The name of each kind of row, and of each piece of one, that docs/dump.md has a table for."""


def _table(name: str, places: dict[str, str]) -> str:
    kind = KINDS[name]
    told = _as_document(_as_json(_one_line(inspect.getdoc(kind) or "")))
    if kind.__struct_config__.array_like:
        told += " Stands as an array of these, in this order."
    lines = [f"| `{name}` | | {told} |", "|---|---|---|"]
    fields = list(type_info(kind).fields)  # type: ignore[attr-defined]
    described = descriptions(kind)
    if issubclass(kind, Fact):
        fields = [field for field in fields if field.name != "graph"]
        for base in (other for other in KINDS.values() if other is kind.__base__):
            inherited = [field.name for field in fields if field.name in base.__struct_fields__]
            lines.append(f"| {', '.join(f'`{field}`' for field in inherited)} | | as in `{_name(base)}` |")
            fields = [field for field in fields if field.name not in inherited]
    for field in fields:
        of, about = _words(field.type, places), _as_document(described.get(field.name, ""))
        lines.append(f"| `{field.encode_name}` | {of} | {about} |")
    return "\n".join(lines) + "\n"


def _words(of: Type, places: dict[str, str]) -> str:
    match of:
        case BoolType():
            return "boolean"
        case IntType():
            return "integer"
        case FloatType():
            return "number"
        case StrType():
            return "text"
        case NoneType():
            return "`null`"
        case LiteralType(values=values):
            return "text" if all(isinstance(value, str) for value in values) else "integer"
        case StructType(cls=kind):
            return f"[{_name(kind)}](#{places.get(_name(kind), '')})"
        case UnionType(types=types):
            return " or ".join(_words(one, places) for one in types)
        case VarTupleType(item_type=item):
            return f"array of {_words(item, places)}"
        case TupleType(item_types=items):
            return f"array: {', '.join(_words(one, places) for one in items)}"
        case DictType(value_type=value):
            return f"object of {_words(value, places)}"
    raise TypeError(f"no words for a field of type {of}")


def _anchor(before: str) -> str:
    """The anchor of the last heading in this text, as GitHub makes it."""
    heading = HEADING.findall(before)[-1]
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _as_json(text: str) -> str:
    for word, instead in (("None", "null"), ("True", "true"), ("False", "false")):
        text = re.sub(rf"(?<![\w`.]){word}(?![\w`])", f"`{instead}`", text)
    return text


def _as_document(text: str) -> str:
    """With links to the other documents, and fit for the cell of a table."""
    return re.sub(r"docs/([\w-]+\.md)(#[\w-]+)?", r"[\1](\1\2)", text).replace("|", "\\|")


if __name__ == "__main__":
    main()

"""docs/dump.md and docs/dump.schema.json are made of the facts, and every row of recorded dumps is valid."""

import json
import tarfile
import zipfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from types import ModuleType
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from inspect_compile.facts import TABLES

ROOT = Path(__file__).resolve().parents[2]
REFERENCE = ROOT / "docs" / "dump.md"
SCHEMA = ROOT / "docs" / "dump.schema.json"
OUTDATED = "run `make reference`, and read what it changed"

RECORDED = sorted(
    {run.parent for run in (ROOT / "tests" / "data").rglob("run.json")}
    | {path for folder in ("data", "profiles/data") for path in (ROOT / "tests" / folder).rglob("*.zip")}
    | set((ROOT / "tests" / "data").rglob("*.tar.xz"))
)
"""Folders and archives, each with the files of a dump or several."""


def test_the_tables_of_the_document_are_those_of_the_facts(dump_reference: ModuleType) -> None:
    text = REFERENCE.read_text(encoding="utf-8")

    assert dump_reference.with_tables(text) == text, OUTDATED


def test_the_schema_is_that_of_the_facts(dump_reference: ModuleType) -> None:
    assert SCHEMA.read_text(encoding="utf-8") == dump_reference.schema_text(), OUTDATED


def test_every_field_of_every_fact_has_a_docstring(dump_reference: ModuleType) -> None:
    bare = [
        f"{name}.{field}"
        for name, kind in dump_reference.KINDS.items()
        for field in kind.__struct_fields__
        if not dump_reference.descriptions(kind).get(field)
    ]

    assert bare == []


def test_the_schema_is_a_schema_and_has_every_table() -> None:
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))

    Draft202012Validator.check_schema(schema)

    assert set(schema["properties"]) == {"run", "shared", *TABLES}


@pytest.mark.parametrize("recorded", RECORDED, ids=lambda path: path.relative_to(ROOT / "tests").as_posix())
def test_every_row_of_recorded_dumps_is_valid(recorded: Path) -> None:
    validator = Draft202012Validator(json.loads(SCHEMA.read_text(encoding="utf-8")))
    tables: dict[str, list[Any]] = defaultdict(list)
    runs = []
    for name, text in files_of(recorded):
        path = PurePosixPath(name)
        if path.suffix == ".jsonl" and path.stem in TABLES:
            tables[path.stem] += [json.loads(line) for line in text.splitlines()]
        elif path.name == "run.json":
            runs.append(json.loads(text))

    errors = [error for run in runs for error in validator.iter_errors({"run": run})]
    errors += validator.iter_errors(tables)

    assert runs
    assert tables
    assert [f"{error.json_path}: {error.message[:300]}" for error in errors] == []


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ({"fact": "graph_end", "graph": "a", "status": "compiled"}, "seconds is missing"),
        ({"fact": "graph_end", "graph": "a", "status": 1, "seconds": 0.5}, "status is no text"),
        ({"fact": "frame", "graph": "0/0"}, "the fact is of another table"),
    ],
)
def test_what_is_no_row_is_not_valid(row: dict[str, Any], why: str) -> None:
    validator = Draft202012Validator(json.loads(SCHEMA.read_text(encoding="utf-8")))

    assert not validator.is_valid({"graphs": [row]}), why


def files_of(recorded: Path) -> Iterator[tuple[str, str]]:
    """The name of each file that may be a table or a run.json, and its text."""
    if recorded.is_dir():
        for path in sorted(recorded.rglob("*.json*")):
            yield path.relative_to(recorded).as_posix(), path.read_text(encoding="utf-8")
    elif recorded.suffix == ".zip":
        with zipfile.ZipFile(recorded) as archive:
            for name in archive.namelist():
                if ".json" in name:
                    yield name, archive.read(name).decode()
    else:
        with tarfile.open(recorded) as tar:
            for member in tar:
                if ".json" in member.name and (file := tar.extractfile(member)) is not None:
                    yield member.name, file.read().decode()

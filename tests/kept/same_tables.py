"""Two dumps of one program held against each other, file by file and row by row, but for times."""

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any, Final

from inspect_compile.dump import paths

_OF_A_RUN: Final = {"times", "imports", "processes", "stretches", "probes", "keys", "metrics"}
"""Tables about the run itself: how long stages and hooks took, what its processes did, what torch counts, what it
prints of its keys.
"""
_DERIVED: Final = {"overview.json", paths.RUN, paths.FINISHED, paths.FINISHING}
_LOOKUPS: Final = ("cache", "kernel_cache")
_NUMBERED: Final = ("call", "pass")
_ADDRESS: Final = re.compile(r"(?<!\d)\d{9,}(?!\d)|\b0x[0-9a-f]{6,}\b|(?<=_)[0-9a-f]{8}(_[0-9a-f]{4}){3}_[0-9a-f]{12}")
"""Ids of Python's objects in guards, addresses in torch's texts of its own objects, random names in bytecode."""
_ADDED_AT: Final = re.compile(r" \((?:_inductor|_functorch)/\w+(?:/\w+)*\.py:\d+ in \w+\)")
"""Where in torch a condition on sizes was added, in the tree of guards: of a cached compile in the look-up."""
_TIMES: Final = {"seconds", "guard_seconds", "kept", "cached"}
"""And whether it was taken from a cache."""


def differences(cold: Path, warm: Path) -> list[str]:
    """What is in one of the dumps only, each difference in a line; the first ones of each file."""
    found = []
    before, after = _files(cold), _files(warm)
    found += [
        f"only in {'cold' if name in before else 'warm'}: {name}" for name in sorted(before.keys() ^ after.keys())
    ]
    for name in sorted(before.keys() & after.keys()):
        if name.endswith(".jsonl"):
            found += [f"{name}: {line}" for line in _apart(_rows(before[name], cold), _rows(after[name], warm))[:4]]
        elif _text(before[name], cold) != _text(after[name], warm):
            found.append(f"{name}: another text")
    return found


def _files(root: Path) -> dict[str, Path]:
    found = {path.relative_to(root).as_posix(): path for path in root.rglob("*") if path.is_file()}
    return {name: path for name, path in found.items() if name not in _DERIVED and path.stem not in _OF_A_RUN}


def _apart(before: list[str], after: list[str]) -> list[str]:
    """The rows of one side only, each as often as it is missing on the other."""
    gone, came = Counter(before) - Counter(after), Counter(after) - Counter(before)
    return [f"- {row[:600]}" for row in gone.elements()] + [f"+ {row[:600]}" for row in came.elements()]


def _rows(path: Path, root: Path) -> list[str]:
    """The rows, sorted: what a backward compiled later is written earlier where all of a compile is served at once."""
    rows = [json.loads(line) for line in _read(path, root).splitlines()]
    if rows[0]["fact"] in _NUMBERED:
        rows = _by_place(rows)
    kept = [_without_times(row) for row in rows if row["fact"] not in _LOOKUPS]
    return sorted(_ADDRESS.sub("…", json.dumps(row, sort_keys=True)) for row in kept)


def _by_place(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Calls or passes with the names of those around them, in the place of numbers, which tell only their order."""
    of = {row["index"]: row for row in rows}
    found = []
    for row in rows:
        around: list[str] = []
        one: dict[str, Any] | None = row
        while one is not None:
            around.append(one.get("name") or one["function"])
            one = of.get(one["parent"])
        found.append({**row, "index": 0, "parent": around})
    return found


def _without_times(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_times(inner) for name, inner in value.items() if name not in _TIMES}
    return [_without_times(inner) for inner in value] if isinstance(value, list) else value


def _read(path: Path, root: Path) -> str:
    """Without the folder that holds the program and its caches, too."""
    folder, text = str(root.parent), path.read_text()
    text = text.replace(folder, "…")
    for shared in reversed(root.parent.parents):  # torch's guards leave out what a file and torch's own folder share
        text = text.replace(folder[len(str(shared)) + 1 :], "…")
    return _ADDED_AT.sub("", text)


def _text(path: Path, root: Path) -> str:
    """Tables for people hold times, too, and the reproducer what torch has put into the environment."""
    text = _read(path, root)
    if path.suffix == ".txt":
        return re.sub(r"[ ─-]+", " ", re.sub(r"\b\d+(\.\d+)? ?(s|ms|µs|us)\b", "", text))
    return re.sub(r"^os\.environ\[.*$|^torch\._inductor\.config\..*$", "", text, flags=re.MULTILINE)

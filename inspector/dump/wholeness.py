"""Whether the tables of a dump are those that its run left: a copy that broke off lacks some."""

import os
from pathlib import Path
from typing import Final

from inspect_compile.dump import paths

_SUFFIX: Final = ".jsonl"


def table_sizes(root: Path) -> dict[str, int]:
    """Bytes of each table at `root`, and of all tables of graphs together, under the name of their folder."""
    sizes = _sizes(root)
    of_graphs = [_sizes(folder) for folder in _folders(root / paths.GRAPHS)]
    if of_graphs:
        sizes[f"{paths.GRAPHS}/"] = sum(sum(one.values()) for one in of_graphs)
    return sizes


def lacking(root: Path, recorded: dict[str, int]) -> tuple[str, ...]:
    """Which of the tables that a run recorded at its end are missing now, or shorter."""
    here = table_sizes(root)
    return tuple(name for name, size in sorted(recorded.items()) if here.get(name, 0) < size)


def _sizes(folder: Path) -> dict[str, int]:
    try:
        with os.scandir(folder) as entries:
            tables = [entry for entry in entries if entry.name.endswith(_SUFFIX)]
            return {entry.name: entry.stat(follow_symlinks=False).st_size for entry in tables}
    except OSError:
        return {}


def _folders(folder: Path) -> list[Path]:
    try:
        with os.scandir(folder) as entries:
            return [Path(entry.path) for entry in entries if entry.is_dir(follow_symlinks=False)]
    except OSError:
        return []

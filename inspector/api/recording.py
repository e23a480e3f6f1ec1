"""A recording as an object: its findings, its tables, and how it shows in a notebook."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from inspect_compile.child.capture import Capture
from inspect_compile.errors import CommandError

if TYPE_CHECKING:
    import pandas

    from inspect_compile.analysis.findings.finding import Finding


class Rows(tuple[msgspec.Struct, ...]):
    """The rows of a table: frozen records with the fields that `show TABLE --json` prints."""

    def to_pandas(self) -> "pandas.DataFrame":
        """One line for each row and one column for each field; nested records are dictionaries.

        Raises ModuleNotFoundError where pandas is not installed.
        """
        import pandas

        return pandas.DataFrame(msgspec.json.decode(msgspec.json.encode(self)))


class Recording(Capture):
    """What was compiled, on disk: of a capture complete when its block has ended."""

    def findings(self) -> "tuple[Finding, ...]":
        """All that was missed, lost or odd, the most expensive first."""
        rows = self.table("findings")
        return tuple(rows)  # type: ignore[arg-type] # the table's rows are findings

    def table(self, name: str, *names: str, graph: str | None = None, **options: Any) -> Rows:
        """The rows of one of `tables()`, or of the pages `node` and `kernel` with the node or kernel as `names`.

        Only rows that concern all of `names`, of one graph or of all; `options` are those of `show TABLE`, as
        `by="module"`. Raises CommandError for a name that does not exist, and where what was read cannot tell.
        """
        from inspect_compile import tables
        from inspect_compile.graph import Graphs
        from inspect_compile.knowledge.origins import unknown_text
        from inspect_compile.tables.options import OPTIONS

        there = (*tables.TABLES, *tables.PAGES)
        if name not in there:
            raise CommandError(f"{name}: no such table; there are: {' '.join(there)}")
        known = [option.name for option in OPTIONS.get(name, ())]
        if wrong := [option for option in options if option not in known]:
            raise CommandError(f"{name} takes no {wrong[0]}; it takes: {' '.join(known) or 'nothing'}")
        if graph is not None and self.graph(graph) is None:
            raise CommandError(f"{graph}: no such graph; there are: {' '.join(one.graph for one in self.graphs())}")
        if why := unknown_text(self.run.origin, name):
            raise CommandError(f"{self.name}: {why}")
        return Rows(tables.rows(name, Graphs(self, graph), names, **options))

    @staticmethod
    def tables() -> tuple[str, ...]:
        """The names of all tables."""
        from inspect_compile.tables import TABLES

        return TABLES

    def _repr_html_(self) -> str:
        """What a notebook shows: the overview, the findings and a picture of what became one kernel."""
        from inspect_compile.api.html import page

        return page(self)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self.root)!r})"


def open_dump(path: str | Path | None = None) -> Recording:
    """The recording at `path`, or the newest one below the current directory; a log of torch's is read as `show` does.

    Runs nothing of it, and needs no torch. Raises DumpError where there is none.
    """
    from inspect_compile.dump import newest_dump
    from inspect_compile.dump import open_dump as opened
    from inspect_compile.origins.opened import of_others

    if path is None:
        found = newest_dump()
    else:
        found = of_others(Path(path)) or opened(Path(path))
    return Recording(found.root, found.target, name=found.name)

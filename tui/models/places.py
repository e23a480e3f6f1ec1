"""Where a sheet has the rows that stand for something, so that marking a selection need not look at every row."""

from collections.abc import Iterator

from inspect_compile.graph.provenance.chain import Selection
from inspect_compile.tui.models.chain import is_marked
from inspect_compile.tui.models.sheet import Sheet, Subject


class RowIndex:
    """The first row of each name at each level."""

    def __init__(self, sheet: Sheet) -> None:
        self._first: dict[tuple[str, object], int] = {}
        self._sums: dict[object, list[tuple[int, Subject]]] = {}
        """First name → the rows that stand for several things together: they are marked only if all are selected."""
        for index in range(len(sheet)):
            subject = sheet.subject(index)
            if subject is None:
                continue
            if subject.is_sum:
                self._sums.setdefault(subject.names[0] if subject.names else None, []).append((index, subject))
                continue
            for name in subject.names:
                self._first.setdefault((subject.level, name), index)

    def first(self, selection: Selection) -> int | None:
        """The first row that belongs to `selection`."""
        return min(self._found(selection), default=None)

    def _found(self, selection: Selection) -> Iterator[int]:
        levels = {
            "line": selection.lines,
            "node": selection.nodes,
            "operation": selection.operations,
            "buffer": selection.buffers,
            "kernel": selection.kernels,
        }
        for level, names in levels.items():
            for name in names:
                if (found := self._first.get((level, name))) is not None:
                    yield found
        for name in (None, *selection.nodes):
            yield from (index for index, subject in self._sums.get(name, ()) if is_marked(subject, selection))

"""The files that `draw` writes: where they are, and in which format."""

import contextlib
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from inspect_compile.commands.output_file import write
from inspect_compile.commands.streams import say
from inspect_compile.errors import CommandError
from inspect_compile.tables.text import unbroken

if TYPE_CHECKING:
    from inspect_compile.diagrams.kinds.kind import Drawn
    from inspect_compile.dump import Dump
    from inspect_compile.facts import Graph

FORMATS: Final = ("svg", "png", "pdf", "dot")


@dataclass(frozen=True)
class Output:
    """What was asked for with -o and --format."""

    path: Path | None
    is_file: bool
    """One file, and not a folder."""
    form: str
    timeout: float | None
    """Seconds that Graphviz may take for one picture."""

    @classmethod
    def of(cls, path: str | None, form: str | None, timeout: float | None) -> "Output":
        """Raises CommandError for a file of no format that there is."""
        given = Path(path) if path is not None else None
        is_file = given is not None and not (given.is_dir() or str(path).endswith(("/", os.sep)))
        return cls(given, is_file, form or _format_of(given if is_file else None), timeout)

    def stem(self, dump: "Dump", graph: "Graph | None", name: str) -> Path:
        """The file to write, without extension: in the graph's folder of the dump, or here if that is not writable."""
        from inspect_compile.dump import paths

        if self.path is not None and self.is_file:
            is_known = self.path.suffix.removeprefix(".").lower() in FORMATS
            return self.path.with_suffix("") if is_known else self.path
        if graph is not None and "/" in graph.graph:
            name = paths.cased_name(f"{graph.graph.partition('/')[2]}_{name}")
        folder = dump.root if graph is None else dump.folder(graph.graph)
        if self.path is None and paths.inside(dump.root, folder) and _is_writable(folder):
            return folder / name
        whole = name if graph is None else f"{graph.graph.partition('/')[0]}_{name}"
        return (self.path or Path()) / paths.safe_name(whole)

    def write(self, stem: Path, drawn: "Drawn", missing: CommandError | None) -> CommandError | None:
        """Write a picture and say where it is; of Graphviz's, the .dot too. `missing`: Graphviz is known to be.

        Returns what kept it from being drawn, if anything did; there is then what can be had without Graphviz.
        """
        plain = drawn.form
        form, failure = self.form, missing
        if plain == "svg" and form == "dot":
            raise CommandError(f"{drawn.name} is a chart: --format svg, png or pdf draws it, and no graph is behind it")
        text = drawn.text.encode("utf-8", "replace")
        if form == plain or plain == "dot":
            write(stem.with_name(f"{stem.name}.{plain}"), text)
        if form != plain and missing is None:
            try:
                write(stem.with_name(f"{stem.name}.{form}"), self._drawn(drawn))
            except CommandError as error:
                failure = error
        if form != plain and failure is not None:
            form = plain
            write(stem.with_name(f"{stem.name}.{plain}"), text)
        say(unbroken(str(stem.with_name(f"{stem.name}.{form}"))))
        return failure

    def _drawn(self, drawn: "Drawn") -> bytes:
        """What Graphviz makes of it."""
        from inspect_compile.diagrams.render import SECONDS, chart, pdf, png, svg

        limit = SECONDS if self.timeout is None else self.timeout
        if drawn.form == "svg":
            return chart(drawn.text, self.form, limit)
        if self.form == "svg":
            return svg(drawn.text, limit).encode()
        return (png if self.form == "png" else pdf)(drawn.text, limit)


def _format_of(path: Path | None) -> str:
    if path is None or not path.suffix:
        return "svg"
    form = path.suffix.removeprefix(".").lower()
    if form not in FORMATS:
        raise CommandError(f"-o {path}: no such format; there are: {', '.join(FORMATS)}")
    return form


def _is_writable(folder: Path) -> bool:
    with contextlib.suppress(OSError), tempfile.TemporaryFile(dir=folder):
        return True
    return False

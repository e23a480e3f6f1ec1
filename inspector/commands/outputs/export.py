"""`export`: a dump in the form of another tool."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from inspect_compile.commands.streams import say

if TYPE_CHECKING:
    from inspect_compile.dump import Dump
    from inspect_compile.export.formats import ExportRequest, Form


class Export:
    """Writes a file, for some formats others beside it, and prints where they are."""

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add its arguments."""
        from inspect_compile.commands.dump_selection import add_dump, add_graph, add_part
        from inspect_compile.export.formats import FORMATS

        add_dump(parser)
        add_part(parser)
        add_graph(parser)
        help_text = "; ".join(f"{name}: {form.help}" for name, form in FORMATS.items())
        parser.add_argument("--format", choices=FORMATS, required=True, help=help_text)
        parser.add_argument(
            "-o", "--output", metavar="FILE", help="default: named after the dump, in the current directory"
        )

    def run(self, arguments: argparse.Namespace) -> int:
        """Write, and say how to look at it."""
        from inspect_compile.commands.dump_selection import selected, tell_left_out
        from inspect_compile.commands.output_file import is_device, write_parts
        from inspect_compile.export.formats import FORMATS
        from inspect_compile.tables.text import byte_text, unbroken

        form = FORMATS[arguments.format]
        dump = selected(arguments.dump, arguments)
        asked = _asked(dump, form, arguments)
        output = Path(arguments.output or f"{asked.name}{form.suffix}")
        if output.is_dir():
            output /= f"{asked.name}{form.suffix}"
        if is_device(output):  # a pipe has room for the file alone
            write_parts(output, next(form.parts(asked)).data)
            return 0
        written = []
        for part in form.parts(asked):
            file = output.with_name(f"{output.stem}.{part.name}{output.suffix}") if part.name else output
            size = write_parts(file, part.data)
            written.append(unbroken(str(file)))
            say(f"{written[-1]}   {byte_text(size)}")
        say(form.hint(written[0], written[1:]))
        tell_left_out(dump)
        return 0


def _asked(dump: "Dump", form: "Form", arguments: argparse.Namespace) -> "ExportRequest":
    from inspect_compile.commands.dump_selection import graphs_named, name_of, needs_rank
    from inspect_compile.export.formats import ExportRequest
    from inspect_compile.facts.nesting import outermost
    from inspect_compile.graph import Graphs

    if not form.of_all_ranks:
        needs_rank(dump, f"a {arguments.format} file")
    names = graphs_named(dump, arguments.graph)
    around = {outermost(name) for name in names if name is not None}
    graphs = [graph for graph in Graphs(dump) if arguments.graph is None or graph.name in around]
    return ExportRequest(dump, name_of(dump), graphs, names)

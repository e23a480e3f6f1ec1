"""`draw`: pictures of a dump as SVG, PNG, PDF and DOT."""

import argparse

from inspect_compile.commands.drawing.asked import add_options, asked, names_of, selected_graphs, wanted
from inspect_compile.commands.drawing.files import FORMATS, Output
from inspect_compile.commands.garbage import uncollected
from inspect_compile.commands.streams import tell
from inspect_compile.diagrams.kinds.every import KINDS
from inspect_compile.diagrams.kinds.kind import Drawn
from inspect_compile.errors import CommandError


class Draw:
    """Writes the pictures that were asked for, and prints where they are."""

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add its arguments."""
        from inspect_compile.commands.dump_selection import add_part

        parser.usage = f"%(prog)s [DUMP] [{' | '.join(_usages())}] [options]"
        parser.add_argument(
            "words",
            nargs="*",
            metavar="DUMP",
            help="the dump (default: the newest one below the current directory) and what to draw: "
            + "; ".join(f"{usage}, {kind.what}" for usage, kind in zip(_usages(), KINDS.values(), strict=True)),
        )
        add_part(parser)
        parser.add_argument("--graph", metavar="G", help="its name, a part of it, forward, backward, or 0/0; or all")
        parser.add_argument("-o", "--output", metavar="FILE", help="a file for one diagram, or a directory")
        parser.add_argument("--format", choices=FORMATS, help="default: as FILE ends, else svg; the .dot comes with it")
        parser.add_argument("--list", action="store_true", help="list what can be drawn of this dump, and draw nothing")
        add_options(parser)
        parser.add_argument(
            "--timeout", type=float, metavar="SECONDS", help="how long Graphviz may take for one diagram (default: 60)"
        )

    def run(self, arguments: argparse.Namespace) -> int:
        """Draw; the .dot files are written even if Graphviz fails."""
        with uncollected():
            return self._draw(arguments)

    @staticmethod
    def _draw(arguments: argparse.Namespace) -> int:
        from inspect_compile.commands.dump_selection import needs_rank, needs_recorded, selected, tell_left_out
        from inspect_compile.diagrams.render import MissingError

        words = asked(arguments.words)
        kind = words.kind
        dump = selected(words.dump, arguments)
        if arguments.list:
            from inspect_compile.commands.drawing.listed import print_drawings

            print_drawings(dump)
            needs_rank(dump, "other diagrams")
            return 0
        needs_recorded(dump, f"draw {kind.name}")
        if not kind.is_of_ranks:
            needs_rank(dump, "diagrams")
        output = Output.of(arguments.output, arguments.format, arguments.timeout)
        choice = wanted(kind, words.name, arguments, is_file=output.is_file)
        graphs = [] if kind.is_of_run else selected_graphs(dump, arguments.graph, is_any=bool(kind.named))
        found = list(kind.draw(dump, graphs, choice))
        drawn = [one for one in found if isinstance(one, Drawn)]
        if output.is_file and len(drawn) > 1:
            raise CommandError(
                f"-o {output.path}: one file, and {len(drawn)} diagrams; "
                f"choose with --graph ({names_of(graphs)}){' and --phase (before, after)' * ('phases' in kind.options)}"
                ", or name a folder"
            )
        trouble: CommandError | None = None
        for one in found:
            if not isinstance(one, Drawn):
                if drawn or len(found) > 1:
                    tell(f"{one.graph.graph if one.graph is not None else 'all'}: {one.why}", name="")
                continue
            missing = trouble if isinstance(trouble, MissingError) else None
            trouble = output.write(output.stem(dump, one.graph, one.name), one, missing) or trouble
        for row in dump.run.omitted:
            tell(f"incomplete: {row.message}", name="")
        tell_left_out(dump)
        if trouble is not None:
            plain = dict.fromkeys(one.form for one in drawn)
            raise CommandError(f"{trouble}; the .{' and .'.join(plain)} files are written")
        if not drawn:
            why = next((one.why for one in found if not isinstance(one, Drawn)), "no graph matches")
            hint = "; the program may still be compiling" if dump.run.status == "running" else ""
            raise CommandError(f"{dump.name}: nothing to draw, {why}{hint}")
        return 0


def _usages() -> list[str]:
    return [f"{kind.name} {kind.named}".rstrip() for kind in KINDS.values()]

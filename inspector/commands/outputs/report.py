"""`report`: a dump as one HTML file."""

import argparse
import contextlib
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from inspect_compile.commands.streams import say
from inspect_compile.errors import CommandError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from inspect_compile.dump import Dump
    from inspect_compile.report.markup import Markup
    from inspect_compile.report.sections import Section

ROWS: Final = 10_000
"""Default number of rows of each graph in a table."""
ATTACHMENT: Final = 25_000_000
"""Maximum size in bytes of an attachment to a GitHub issue."""


class Report:
    """Writes a page with everything that is to be seen of a dump, or of several beside each other."""

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add its arguments."""
        from inspect_compile.commands.dump_selection import add_part
        from inspect_compile.commands.recompiling import add_recompile

        parser.usage = "%(prog)s [DUMP [DUMP …]] [-o FILE.html] [options]"
        parser.add_argument(
            "dumps",
            nargs="*",
            metavar="DUMP",
            help="the dump (default: the newest one below the current directory); others are compared with the first",
        )
        add_part(parser)
        add_recompile(parser)
        parser.add_argument(
            "-o", "--output", metavar="FILE.html", help="default: named after the dump, in the current directory"
        )
        parser.add_argument(
            "--rows", type=int, default=ROWS, metavar="N", help=f"rows of each graph in a table (default: {ROWS:,})"
        )
        parser.add_argument(
            "--redact", action="store_true", help="as in `share`: remove paths, arguments, names and credentials"
        )
        parser.add_argument(
            "--no-source",
            action="store_true",
            help="remove the program's source lines, and replace its names by name7x; lines keep their numbers;"
            " includes --redact",
        )

    def run(self, arguments: argparse.Namespace) -> int:
        """Write the page, and say how large it is."""
        from inspect_compile.commands.dump_selection import chosen, name_of, tell_left_out
        from inspect_compile.commands.output_file import write
        from inspect_compile.commands.recompiling import recompile_missing
        from inspect_compile.report.packing import unpacked
        from inspect_compile.tables.text import byte_text, unbroken

        if arguments.rows < 1:
            raise CommandError(f"--rows {arguments.rows}: at least 1")
        paths = arguments.dumps or [None]
        whole = [chosen(path, None) for path in paths]
        if arguments.recompile:
            whole = recompile_missing(whole, arguments)
        output = Path(arguments.output or f"{name_of(whole[0])}.html")
        if output.is_dir():
            output /= f"{name_of(whole[0])}.html"
        sentences: dict[str, None] = {}
        with contextlib.ExitStack() as stack:
            copies = [stack.enter_context(_copied(dump, arguments)) for dump in whole]
            text = _page([(copy.dump, copy.name) for copy in copies], arguments)
            everything = unpacked(text) if arguments.redact or arguments.no_source else ""
            for copy in copies:
                if kind := copy.left_in(everything):
                    raise CommandError(
                        f"{output}: not written, it would still hold {kind}; please report this, with the kind of text "
                        "that it stands in"
                    )
                sentences.update(dict.fromkeys(copy.sentences))
        data = text.encode("utf-8", "replace")
        write(output, data)
        say(f"{unbroken(str(output))}   {byte_text(len(data))}")
        if len(data) > ATTACHMENT:
            say(f"GitHub takes attachments of at most {byte_text(ATTACHMENT)}: --rows 1000 makes it smaller")
        for sentence in sentences:
            say(f"  {unbroken(sentence)}")
        tell_left_out(*whole)
        return 0


class _Copy(NamedTuple):
    """What the page is made from."""

    dump: "Dump"
    name: str
    sentences: tuple[str, ...]
    left_in: "Callable[[str], str]"
    """As in `share.sharing.Redacted`."""


@contextlib.contextmanager
def _copied(dump: "Dump", arguments: argparse.Namespace) -> "Iterator[_Copy]":
    """The dump itself, or a copy without what is not to be seen."""
    from inspect_compile.commands.dump_selection import name_of

    if not arguments.redact and not arguments.no_source:
        yield _Copy(dump, name_of(dump), (), lambda text: "")
        return
    from inspect_compile.commands.outputs.share import this_machine
    from inspect_compile.dump import open_dump
    from inspect_compile.share.sharing import redacted

    with tempfile.TemporaryDirectory() as folder:
        made = redacted(dump, Path(folder), this_machine(), redact=arguments.redact, source=not arguments.no_source)
        yield _Copy(open_dump(Path(folder)), made.name, made.sentences, made.left_in)


def _page(given: "list[tuple[Dump, str]]", arguments: argparse.Namespace) -> str:
    """The page of the first dump's selected part, and what differs in the others."""
    from inspect_compile.analysis.dumps.parts import is_only_parts, ranks
    from inspect_compile.commands.dump_selection import part_of
    from inspect_compile.report.comparison import compared
    from inspect_compile.report.page import page
    from inspect_compile.report.pictures import of_ranks
    from inspect_compile.report.second_compile import second_compiles
    from inspect_compile.report.sections import ReportRequest, Section, program, sections
    from inspect_compile.tables.text import number_of, one_line

    names = _distinct([name for _, name in given])
    sides = [(name, part_of(dump, arguments)) for name, (dump, _) in zip(names, given, strict=True)]
    name, dump = sides[0]
    there = ranks(dump)
    title = program(dump)
    version = dump.run.versions.get("torch")
    what = f"{dump.run.origin or 'dump'} {name}"
    about = [", ".join(map(one_line, filter(None, (what, version and f"torch {version}", dump.run.device))))]
    if is_only_parts(dump) and there:
        first = min(there)
        about.append(f"{number_of(len(there), 'rank')}; code, pictures and tables are those of rank {first}")
        every = list(sections(ReportRequest(dump, name, arguments.rows, prefix="ranks-")))
        own = list(sections(ReportRequest(there[first].dump, f"{name} --rank {first}", arguments.rows)))
        shown = [Section("ranks", "All ranks", [*of_ranks(dump), *every[0].blocks, *_blocks(every, "checks")]), *own]
        beside = [(f"rank {rank}", part.dump) for rank, part in there.items()]
        said = [f"{name} --rank {rank}" for rank in there]
    else:
        request = ReportRequest(dump, name, arguments.rows)
        shown = [*sections(request), *second_compiles(request)]
        beside, said = sides, names
    if len(beside) > 1:
        shown.insert(1, Section("compared", "Compared", list(compared(beside, said))))
    if len(sides) > 1:
        about.append(f"compared with {', '.join(name for name, _ in sides[1:])}")
    return page(title, about, shown, name)


def _blocks(found: "list[Section]", name: str) -> "list[Markup]":
    return [block for one in found if one.name == name for block in one.blocks]


def _distinct(names: list[str]) -> list[str]:
    """Names of which no two are equal."""
    return [name if names.count(name) == 1 else f"{name} ({place})" for place, name in enumerate(names, 1)]

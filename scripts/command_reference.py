"""Write the reference of the commands anew, from what their `--help` says.

    python scripts/command_reference.py [--man FOLDER]

docs/reference.md has all options; with --man, FOLDER gets a man page, inspect-compile.1.
"""

import argparse
import io
import os
import re
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path
from typing import Final

from inspect_compile import __version__
from inspect_compile.commands import COMMANDS, Listed, Parser, main
from inspect_compile.commands.usage import exits

ROOT: Final = Path(__file__).resolve().parent.parent
PAGE: Final = ROOT / "docs" / "reference.md"
HEAD: Final = """\
# All commands and options

Written by `make reference` from what `inspect-compile COMMAND --help` prints. [commands.md](commands.md) says what the
commands are for.

"""
WIDTH: Final = "80"


def page() -> str:
    """docs/reference.md, the same with every Python: argparse's own layout differs among them."""
    return "\n".join([HEAD, _statuses(), *(section(listed) for listed in COMMANDS)])


def _statuses() -> str:
    of_all = dict(exits.of("show")[-2:])
    rows = ["## Exit statuses", "", "| command | status |", "|---|---|"]
    for listed in COMMANDS:
        own = "; ".join(f"{status}: {meaning}" for status, meaning in exits.of(listed.name) if status not in of_all)
        rows.append(f"| `{listed.name}` | {own} |")
    told = "; ".join(f"{status}: {meaning}" for status, meaning in of_all.items())
    return "\n".join([*rows, "", f"All but `run` also have {told}.", ""])


def section(listed: Listed) -> str:
    """One command: usage, arguments, what else its help says."""
    parser = parser_of(listed)
    lines = [
        f"## {listed.name}",
        "",
        f"{listed.help[0].upper()}{listed.help[1:]}.",
        "",
        "```text",
        usage_of(parser),
        "```",
    ]
    lines += ["", "| argument | |", "|---|---|"] if _arguments(parser) else []
    lines += [f"| {names_of(action)} | {_cell(meaning_of(parser, action))} |" for action in _arguments(parser)]
    if parser.epilog and parser.formatter_class is argparse.RawDescriptionHelpFormatter:
        lines += ["", "```text", parser.epilog, "```"]
    elif parser.epilog:
        lines += ["", _cell(parser.epilog)]
    return "\n".join([*lines, ""])


def _arguments(parser: Parser) -> list[argparse.Action]:
    return [action for action in parser._actions if not isinstance(action, argparse._HelpAction)]


def usage_of(parser: Parser) -> str:
    if parser.usage:
        return parser.usage % {"prog": parser.prog}
    places = (action for action in parser._actions if not action.option_strings)
    return " ".join([parser.prog, "[options]", *(str(action.metavar or action.dest).upper() for action in places)])


def names_of(action: argparse.Action) -> str:
    """`-o`, `--output FILE`."""
    value = action.metavar or (f"{{{','.join(map(str, action.choices))}}}" if action.choices else action.dest.upper())
    words = " ".join(value) if isinstance(value, tuple) else str(value)
    takes = "" if action.nargs == 0 else f" {words}"
    names = [*action.option_strings[:-1], f"{action.option_strings[-1]}{takes}"] if action.option_strings else [words]
    return ", ".join(f"`{_cell(name)}`" for name in names)


def meaning_of(parser: Parser, action: argparse.Action) -> str:
    return parser._get_formatter()._expand_help(action) if action.help else ""


def _cell(text: str) -> str:
    """Text that does not end a cell of a table."""
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")


def parser_of(listed: Listed) -> Parser:
    parser = Parser(listed)
    listed.load().configure(parser)
    return parser


def man() -> str:
    """A page for man(1): what the commands are, then the help of each."""
    os.environ["COLUMNS"] = WIDTH
    told = io.StringIO()
    with redirect_stdout(told):
        main(["--help"])
    usage, _, rest = told.getvalue().partition("\n\n")
    what = rest.partition("\n")[0]
    lines = [
        f'.TH INSPECT\\-COMPILE 1 "" "inspect\\-compile {__version__}" "User Commands"',
        ".SH NAME",
        f"inspect\\-compile \\- {_roff('see what torch.compile did to a program')}",
        ".SH SYNOPSIS",
        *_verbatim(re.sub(r"^usage: |^ {7}", "", usage, flags=re.MULTILINE)),
        ".SH DESCRIPTION",
        _roff(what),
        ".SH COMMANDS",
    ]
    for listed in COMMANDS:
        lines += [f".SS {_roff(listed.name)}", *_verbatim(parser_of(listed).format_help())]
    return "\n".join(lines) + "\n"


def _verbatim(text: str) -> Iterator[str]:
    yield ".nf"
    yield from (_roff(line) for line in text.rstrip("\n").splitlines())
    yield ".fi"


def _roff(line: str) -> str:
    """A line in which nothing is an instruction."""
    line = line.replace("\\", "\\e").replace("-", "\\-")
    line = "".join(one if one.isascii() else f"\\[u{ord(one):04X}]" for one in line)
    return f"\\&{line}" if line.startswith((".", "'")) else line


def write() -> None:
    parser = argparse.ArgumentParser(description="Write the reference of the commands.")
    parser.add_argument("--man", type=Path, metavar="FOLDER", help="also write a man page there")
    arguments = parser.parse_args()
    PAGE.write_text(page(), encoding="utf-8")
    if arguments.man is not None:
        arguments.man.mkdir(parents=True, exist_ok=True)
        (arguments.man / "inspect-compile.1").write_text(man(), encoding="utf-8")


if __name__ == "__main__":
    write()

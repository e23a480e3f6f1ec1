"""The command line: one small class for each subcommand, loaded when it is asked for.

No other room may know a command.
"""

import argparse
import importlib
import os
import sys
from collections.abc import Sequence
from typing import Final, NamedTuple, NoReturn, Protocol

from inspect_compile import __version__
from inspect_compile.commands import streams
from inspect_compile.commands.program import BEFORE_START, split
from inspect_compile.commands.streams import PROGRAM
from inspect_compile.commands.usage import exits
from inspect_compile.commands.usage.exits import INTERRUPTED, READER_GONE
from inspect_compile.errors import CommandError, DumpError

_COMPLETES: Final = "_ARGCOMPLETE"
"""The variable that a shell sets when it asks what Tab completes."""


class Command(Protocol):
    """A subcommand. Its module imports what it needs when it runs."""

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add its arguments."""

    def run(self, arguments: argparse.Namespace) -> int:
        """Run it and return the exit status; raises CommandError for what the user can fix."""


class Listed(NamedTuple):
    """A subcommand as the help lists it."""

    name: str
    help: str
    exit_code: int = 2
    """Exit status for an error in its arguments."""
    has_program: bool = False
    """Whether a program with its arguments follows the options."""
    folder: str = ""
    """The folder of its module, if it has one of its own."""

    def load(self) -> Command:
        """The command itself: `bisect-fusions` is the class BisectFusions in bisect_fusions.py."""
        words = self.name.split("-")
        module = importlib.import_module(".".join(filter(None, (__name__, self.folder, "_".join(words)))))
        command: Command = getattr(module, "".join(word.title() for word in words))()
        return command


RUN: Final = Listed(
    "run", "record a program; on a terminal it runs beside the TUI", exit_code=BEFORE_START, has_program=True
)
COMMANDS: Final[tuple[Listed, ...]] = (
    RUN,
    Listed("open", "browse a dump in the terminal, finished or still growing"),
    Listed("show", "print a summary of a dump, or one of its tables"),
    Listed("import", "make a dump of torch's own logs: TORCH_TRACE, TORCH_COMPILE_DEBUG"),
    Listed("why", "explain why two operations are, or are not, in one kernel"),
    Listed("name", "find a kernel by any name that a tool prints for it"),
    Listed("attribute", "match a profile's kernels to launches and source lines"),
    Listed("diff", "explain why two dumps differ", folder="comparing"),
    Listed("upgrade", "compare a program in two environments", has_program=True, folder="comparing"),
    Listed("lock", "record what was compiled in a lock file for a repository", has_program=True, folder="locks"),
    Listed("check", "report what no longer compiles as locked", has_program=True, folder="locks"),
    Listed("draw", "draw a dump: schedules, FX graphs, kernels, memory … as SVG, PNG, PDF"),
    Listed("replay", "compile a recorded graph again, for a GPU or with a setting"),
    Listed("bisect-fusions", "find the fusion that changes a result", has_program=True),
    Listed("numerics", "check each launch against its FX graph in fp64", has_program=True),
    Listed("tune", "try changes that could make a program's steps faster, and write a patch", has_program=True),
    Listed("report", "write a dump as one HTML page, to attach to an issue", folder="outputs"),
    Listed("export", "write a dump for Perfetto, Model Explorer, jq or Graphviz", folder="outputs"),
    Listed("share", "pack a dump into one zip; --redact removes personal data", folder="outputs"),
    Listed("doctor", "check what works here, and what to install"),
    Listed("completion", "print what a shell needs to complete words with Tab"),
)
"""All subcommands, in the order of the help."""

HELP: Final = """\
usage: inspect-compile [run] [options] SCRIPT [ARG …]
       inspect-compile run [options] -m MODULE [ARG …]
       inspect-compile run [options] -- COMMAND [ARG …]
       inspect-compile COMMAND …

See what torch.compile did to a program: record it, and walk from a line of Python to the kernel that runs it.

{commands}

inspect-compile COMMAND --help lists the options and what its exit status means.
Without a DUMP, commands use the newest one below the current directory.
"""


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are one line, and whose help ends with the exit statuses."""

    def __init__(self, command: Listed) -> None:
        super().__init__(prog=f"{PROGRAM} {command.name}", description=command.help, allow_abbrev=False)
        self._command = command

    def error(self, message: str) -> NoReturn:
        from inspect_compile.commands.usage.near import of_argparse

        meant = of_argparse(message, self._option_string_actions)
        told = f"{message}{meant or ';'} `{self.prog} --help` lists what there is"
        raise CommandError(told, exit_code=self._command.exit_code)

    def format_help(self) -> str:
        """Its statuses stand in the order in which they are meant."""
        return f"{super().format_help()}\n{exits.text(self._command.name)}\n"


def main(argv: Sequence[str] | None = None) -> int:
    """The command `inspect-compile`; returns the exit status."""
    words = list(sys.argv[1:] if argv is None else argv)
    if _COMPLETES in os.environ:
        from inspect_compile.commands.completing import complete

        complete(COMMANDS)
    streams.open_closed()
    try:
        status = _dispatch(words)
        sys.stdout.flush()
    except CommandError as error:
        return _refused(str(error), error.exit_code)
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        streams.forget(sys.stdout)
        return READER_GONE
    except OSError as error:
        if error.filename is None:
            streams.forget(sys.stdout)
        what = "the output cannot be written" if error.filename is None else str(error.filename)
        return _refused(f"{what}: {error.strerror or error}", _listed(words).exit_code)
    return status


def _refused(why: str, status: int) -> int:
    streams.tell(why)
    return status


def _listed(words: Sequence[str]) -> Listed:
    """The subcommand; without one it is `run`."""
    return next((listed for listed in COMMANDS if words and listed.name == words[0]), RUN)


def _dispatch(words: list[str]) -> int:
    if not words or words[0] in ("-h", "--help"):
        commands = "\n".join(f"  {listed.name:16}{listed.help}" for listed in COMMANDS)
        streams.say_own(HELP.format(commands=commands).rstrip("\n"))
        return 0
    if words[0] in ("-V", "--version"):
        streams.say_own(f"{PROGRAM} {__version__}")
        return 0
    listed = _listed(words)
    words = words[1:] if listed.name == words[0] else words
    parser = Parser(listed)
    command = listed.load()
    command.configure(parser)
    arguments = argparse.Namespace()
    if listed.has_program:
        words, arguments.program = split(words)
        arguments.commands = [listed.name for listed in COMMANDS]
    try:
        return command.run(parser.parse_intermixed_args(words, arguments))
    except DumpError as error:
        from inspect_compile.tables.dump_text import advised

        raise CommandError(advised(error), exit_code=listed.exit_code) from None

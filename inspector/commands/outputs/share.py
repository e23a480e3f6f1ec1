"""`share`: packs a dump into one zip, for a public issue."""

import argparse
import contextlib
import getpass
import os
import socket
from pathlib import Path
from typing import TYPE_CHECKING, Final

from inspect_compile.commands.dump_selection import add_dump, chosen
from inspect_compile.commands.streams import say
from inspect_compile.errors import CommandError

if TYPE_CHECKING:
    from inspect_compile.share.secrets import Machine
    from inspect_compile.share.sharing import SharedFile

ATTACHMENT: Final = 25_000_000
"""Maximum size in bytes of an attachment to a GitHub issue."""


class Share:
    """Packs a dump, on request without what identifies a person or machine, and says what was removed."""

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add its arguments."""
        add_dump(parser)
        parser.add_argument(
            "-o", "--output", metavar="FILE.zip", help="default: named after the dump, in the current directory"
        )
        parser.add_argument(
            "--redact",
            action="store_true",
            help="replace paths, arguments, user and host names, addresses and credentials by short names, and"
            " remove the program's output",
        )
        parser.add_argument(
            "--no-source",
            action="store_true",
            help="remove all text of the program: its source lines go, its names and files become name7x, the same"
            " everywhere; lines keep their numbers; includes --redact",
        )
        parser.add_argument(
            "--inputs",
            action="store_true",
            help="include the inputs of wrong launches that `numerics` kept: tensors of the program",
        )
        parser.add_argument("--json", action="store_true", help="print what was written and removed as one JSON object")

    def run(self, arguments: argparse.Namespace) -> int:
        """Write the zip, and say what is missing in it."""
        from inspect_compile.share.sharing import share

        output = Path(arguments.output) if arguments.output is not None else None
        if output is not None and arguments.output.endswith(("/", os.sep)) and not output.is_dir():
            raise CommandError(f"-o {arguments.output}: no such folder; make it first, or name a file")
        written = share(
            chosen(arguments.dump, None),
            output,
            this_machine(),
            redact=arguments.redact,
            source=not arguments.no_source,
            inputs=arguments.inputs,
        )
        if arguments.json:
            from inspect_compile.commands.printing import print_json

            print_json([written])
        else:
            say("\n".join(_lines(written)))
        return 0


def _lines(written: "SharedFile") -> list[str]:
    from inspect_compile.tables.text import byte_text, clean, columns, number_of

    lines = [f"{clean(written.file)}   {byte_text(written.bytes)}, {number_of(written.files, 'file')}"]
    if written.bytes > ATTACHMENT:
        lines.append(
            f"GitHub takes attachments of at most {byte_text(ATTACHMENT)}: record fewer graphs (run --graphs N)"
        )
    taken = [(row.what, f"{row.count:,}", row.stands_as and f"now {row.stands_as}") for row in written.removed]
    left = [(row.what, f"{row.count:,}", "") for row in written.left_out]
    for title, rows in (("Taken out", taken), ("Left out", left)):
        if rows:
            lines += ["", title, *(f"  {row}" for row in columns(rows, right=frozenset({1})))]
    lines += ["", "Read it before you post it:", *(f"  {sentence}" for sentence in written.remains)]
    return lines


def this_machine() -> "Machine":
    """The current user and machine: a dump is usually shared where it was recorded."""
    from inspect_compile.share.secrets import Machine

    users, hosts = [], []
    with contextlib.suppress(OSError, KeyError, ImportError):
        users.append(getpass.getuser())
    with contextlib.suppress(OSError):
        hosts.append(socket.gethostname())
    home = os.path.expanduser("~")
    return Machine(tuple(users), tuple(hosts), (home,) if home != "~" else ())

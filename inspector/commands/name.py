"""`name`: the kernel that a name from any tool means, down to the source line."""

import argparse
import os

from inspect_compile.errors import CommandError


class Name:
    """Resolves names."""

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add its arguments."""
        from inspect_compile.commands.dump_selection import add_graph, add_part

        parser.usage = "inspect-compile name [DUMP] STRING … [--graph G] [--rank R] [--target GPU] [--json] [--all]"
        parser.epilog = (
            "STRING: a kernel's name, whole or cut; triton__0d1c; kernel:handle; the hash that names a file of torch's "
            "cache; a C++ symbol; a name of cuBLAS, cuDNN, CUTLASS or flash attention; output_code.py:31 or that line. "
            "Exit status: 1 if one of them means nothing in this dump."
        )
        parser.add_argument("words", nargs="+", metavar="[DUMP] STRING", help="the dump, and names")
        add_graph(parser)
        add_part(parser, replay=False)
        parser.add_argument("--json", action="store_true", help="one JSON object per line for each matching kernel")
        parser.add_argument("--all", action="store_true", help="list all matching kernels")

    def run(self, arguments: argparse.Namespace) -> int:
        """Print what each name means."""
        from inspect_compile.analysis.lookup.answer import Found
        from inspect_compile.analysis.lookup.names import Names
        from inspect_compile.commands.dump_selection import graphs_named, needs_rank, selected, tell_left_out
        from inspect_compile.commands.printing import print_json, print_table
        from inspect_compile.tables.lookup_text import unresolved_text

        words = list(arguments.words)
        path = words.pop(0) if os.path.isdir(words[0]) else None
        if not words:
            raise CommandError(f"{path}: which name? inspect-compile name {path} STRING …")
        dump = selected(path, arguments)
        needs_rank(dump, "kernels")
        names = Names(dump, graphs_named(dump, arguments.graph))
        answers = [names.find(word) for word in words]
        meant = [row for answer in answers if isinstance(answer, Found) for row in answer.all]
        if arguments.json:
            print_json([kernel for row in meant for kernel in row.kernels])
        elif meant:
            from inspect_compile.tables.kernels.name import named

            print_table(named(meant, limit=None) if arguments.all else named(meant))
        tell_left_out(dump)
        for answer in answers:
            if not isinstance(answer, Found):
                raise CommandError(unresolved_text(answer), exit_code=1)
        return 0 if all(row.kernels for row in meant) else 1

"""Names as torch and people write them: of operations, of lines, of files."""

import posixpath
import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from inspect_compile.dump import Dump
from inspect_compile.facts import Graph, Location
from inspect_compile.knowledge.frontend.own_code import own_line

_OPERATION = re.compile(r"\w*op\d+")
_NUMBER = re.compile(r"(?:^|(?<=\.))\d+(?=\.|$)")
_WORD = re.compile(r"\w*")
_AOT = re.compile(r"(.*__\d+_)(?:joint|forward|backward)_")


def few(names: Sequence[str], most: int, between: str = ", ") -> str:
    """`a, b and 3 more`: the first `most` of them."""
    left = len(names) - most
    return between.join(names[:most]) + (f" and {left:,} more" if left > 0 else "")


def operations_in(name: str) -> list[str]:
    """`op9` and `op10` for `op9_op10`.

    Names in nested graphs contain further underscores: `true_graph_0_op3_true_graph_0_op4`.
    """
    found: list[str] = []
    waiting: list[str] = []
    for word in name.split("_"):
        if _WORD.fullmatch(word):
            waiting.append(word)
        else:
            waiting.clear()
        if _OPERATION.fullmatch(word):
            found.append("_".join(waiting))
            waiting.clear()
    return found


def aot_prefix(graph: str) -> str:
    """`model__0_`, with which the names of a joint graph and of its forward and backward begin; empty for others."""
    found = _AOT.match(graph)
    return found[1] if found else ""


def any_number(module: str) -> str:
    """`layers.*.attention` for the path of a module in any of several layers."""
    return _NUMBER.sub("*", module)


class ProgramLine(NamedTuple):
    """A file and a line number."""

    file: str
    """A path or its last parts; empty for any file."""
    digits: str

    @classmethod
    def read(cls, text: str) -> "ProgramLine | None":
        """Parse `text`; None if it names no line."""
        file, _, digits = text.rpartition(":")
        return cls(file.replace("\\", "/"), digits) if digits.isdecimal() and digits.isascii() else None

    def is_at(self, where: Location) -> bool:
        """True if `where` is that line, or a library's that this line of the user's own leads to.

        Numbers are compared as text: Python refuses to parse thousands of digits.
        """
        own = own_line(where)
        return self._is(where) or (own is not None and own is not where and self._is(own))

    def _is(self, where: Location) -> bool:
        if str(where.line) != self.digits.lstrip("0"):
            return False
        return not self.file or f"/{where.file.replace(chr(92), '/')}".endswith(f"/{self.file}")


def file_name(path: str) -> str:
    """The last part of a path, on any system."""
    return posixpath.basename(path.replace("\\", "/"))


def script_name(argv: Sequence[str]) -> str:
    """The file name of the program that was run; empty if that is not known."""
    return file_name(argv[0]) if argv else ""


def unless_script(file: str, script: str) -> str:
    """The last part of a path; empty for the program that was run, which may be the same one under another name."""
    name = file_name(file)
    return "" if name == script else name


def short(where: Location) -> str:
    """`model.py:12`."""
    return f"{file_name(where.file)}:{where.line}"


class ShortNames:
    """For each graph of a dump, the shortest name that `find_graph` resolves: kind, compile id, or full name."""

    def __init__(self, dump: Dump) -> None:
        graphs = dump.outermost()
        self._counts = Counter(name for graph in graphs for name in {graph.kind, graph.compile_id} if name)

    def of(self, graph: Graph) -> str:
        """The short name of an outermost graph."""
        for name in (graph.kind, graph.compile_id):
            if name and self._counts[name] == 1:
                return name
        return graph.graph

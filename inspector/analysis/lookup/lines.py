"""Finds the lines of a kernel's source that a person names: by number, by a line of the program, by an FX node."""

from collections.abc import Callable, Iterable

from inspect_compile.analysis.kernels.stage_lines import KernelStages
from inspect_compile.analysis.lookup.answer import Answer, Found, Kind, Unknown
from inspect_compile.dump import Dump
from inspect_compile.graph import ProgramLine, own_name, short
from inspect_compile.graph.kernels.launches import USER_TRITON
from inspect_compile.graph.kernels.statements import Annotated, Statements

Lines = frozenset[int]


def find_source_lines(
    dump: Dump, statements: Statements, stages: KernelStages, line: str | None, node: str | None
) -> Answer[Lines]:
    """The lines of the kernel's source that match both `line`, a line of the source or of the program, and `node`."""
    kernel, length = stages.kernel, len(stages.source)
    if not length:
        return Unknown(kernel.name, "source", dump.root)
    rows, every = statements.of_all_calls(kernel), frozenset(range(1, length + 1))
    is_whole = kernel.kind == USER_TRITON
    """It belongs to its nodes and lines as a whole."""

    def matching(
        asked: str, kind: Kind, is_meant: Callable[[Annotated], bool], names: Iterable[str], *, of_kernel: bool
    ) -> Answer[Lines]:
        if is_whole and of_kernel:
            return Found((every,))
        found = frozenset(row.line for row in rows if is_meant(row))
        if found:
            return Found((found,))
        if not rows and not is_whole:
            return Unknown(asked, "mapped statement", dump.root, among=kernel.name)
        return Unknown(asked, kind, dump.root, there=tuple(dict.fromkeys(names)), among=kernel.name)

    meant = every
    if line is not None and line.isascii() and line.isdecimal():
        number = int(line[:9])
        if not 0 < number <= length:
            return Unknown(line, "line of a kernel", dump.root, there=(f"1 to {length}",), among=kernel.name)
        meant = frozenset({number})
    elif line is not None:
        asked = ProgramLine.read(line)
        if asked is None:
            return Unknown(line, "form of a kernel's line", dump.root)
        places = (*kernel.lines, *(place for row in rows for place in row.lines))
        answer = matching(
            line,
            "statement of a line",
            lambda row: any(map(asked.is_at, row.lines)),
            map(short, places),
            of_kernel=any(map(asked.is_at, kernel.lines)),
        )
        if not isinstance(answer, Found):
            return answer
        meant = answer.all[0]
    if node is not None:
        bare = own_name(node.removeprefix("%"))
        answer = matching(
            node,
            "statement of a node",
            lambda row: bare in row.nodes,
            (name for row in rows for name in row.nodes),
            of_kernel=bare in kernel.nodes,
        )
        if not isinstance(answer, Found):
            return answer
        meant &= answer.all[0]
    return (
        Found((meant,)) if meant else Unknown(f"{line} and {node}", "statement of both", dump.root, among=kernel.name)
    )

"""The code that Inductor generated; each line of a kernel's definition or call stands for that kernel."""

from typing import Final

from inspect_compile.dump import Dump, paths
from inspect_compile.facts import Kernel
from inspect_compile.graph import CompiledGraph
from inspect_compile.tables.styled_text import styled
from inspect_compile.tables.text import number_of
from inspect_compile.tui.models.chain import Chain
from inspect_compile.tui.models.code import Code, CodeLine, code_of
from inspect_compile.tui.models.kernels import LANGUAGES
from inspect_compile.tui.models.sheet import Panel, Shown

WRITTEN: Final = {
    "generated": paths.OUTPUT_CODE,
    "readable FX": paths.FX_READABLE,
    "IR before": paths.IR_PRE_FUSION,
    "IR after": paths.IR_POST_FUSION,
}
"""Mode of the view → name of the graph's file."""

CALL: Final = "→"
"""Marks a line that calls a kernel."""


def output_file(graph: CompiledGraph) -> str:
    """Name of the file with the generated code: Python, or C++ for a C++ wrapper."""
    for suffix in (".py", ".cpp"):
        if (graph.dump.folder(graph.name) / f"{paths.OUTPUT_CODE}{suffix}").is_file():
            return f"{paths.OUTPUT_CODE}{suffix}"
    return f"{paths.OUTPUT_CODE}.py"


def output(dump: Dump, chain: Chain, what: str) -> Code | None:
    """A file that torch would write for this graph; None if it is not in the dump."""
    name = WRITTEN[what]
    if name == paths.OUTPUT_CODE:
        name = output_file(chain.compiled)
    text = dump.text(chain.graph, name)
    if text is None:
        return None
    file = dump.folder(chain.graph) / name
    language = "cpp" if name.endswith(".cpp") else "python"
    if WRITTEN[what] != paths.OUTPUT_CODE:
        return code_of(text, language, file)
    written = text.splitlines()
    kernels = _kernels(chain, language, len(written))
    definitions = {kernel.defined_at for kernel in chain.kernels}
    lines = []
    for number, line in enumerate(written, 1):
        position, own, is_call = kernels.get(number, (None, language, False))
        begins = number - 1 in definitions
        subject = chain.of_launch(position, number if is_call else None) if position is not None else None
        lines.append(CodeLine(line, number, CALL if is_call else "", subject, language=own, begins=begins))
    return Code(lines, file)


def _kernels(chain: Chain, language: str, length: int) -> dict[int, tuple[int, str, bool]]:
    """Line of a text of `length` lines → position of its kernel, the line's language, and whether it is a call.

    The first and the last line of a definition belong to the wrapper: `name = async_compile.cpp(…, '''` and `''')`,
    which alone would look like the beginning of a string.
    """
    found: dict[int, tuple[int, str, bool]] = {}
    left = length  # nested definitions are a sign of damage, and could be very many
    for position, kernel in enumerate(chain.kernels):
        defined = _defined(kernel, length)[:left]
        left -= len(defined)
        for number in defined:
            own = LANGUAGES.get(kernel.kind, "")
            if number == kernel.defined_at:
                own = "python"
            elif number == kernel.defined_to:
                own = ""
            found[number] = (position, own, False)
    for position, kernel in enumerate(chain.kernels):
        for number in kernel.launches:
            found[number] = (position, language, True)
    return found


def _defined(kernel: Kernel, length: int) -> range:
    if kernel.defined_at is None or kernel.defined_to is None:
        return range(0)
    return range(max(1, kernel.defined_at), min(length, kernel.defined_to) + 1)


def written(dump: Dump, chain: Chain, mode: str) -> Shown[Code]:
    """One of the texts; a line that says so if there is none."""
    missing = styled(f" The dump holds no such file of {chain.graph}: --level facts keeps no texts.", "dim")
    code = output(dump, chain, mode) or Code([missing])
    return Shown(code, number_of(len(code), "line"))


PANEL: Final = Panel(written, tuple(WRITTEN))

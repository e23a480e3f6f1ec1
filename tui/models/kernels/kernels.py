"""The kernels that the generated code calls, their sources, and what torch's autotuning chose for them."""

from collections.abc import Iterator
from typing import Final

from inspect_compile.analysis.cost.kernel_rows import rows_of_calls
from inspect_compile.analysis.kernels.autotuning import Autotuned, autotuned
from inspect_compile.analysis.kernels.autotuning import of_kernel as tuned_of_kernel
from inspect_compile.analysis.kernels.binaries import configurations, of_kernel, of_kernels
from inspect_compile.analysis.kernels.stage_lines import STAGES
from inspect_compile.analysis.kernels.statements import Annotated
from inspect_compile.analysis.kernels.tiling import form_of, shape
from inspect_compile.dump import Dump
from inspect_compile.facts import Kernel, KernelBody
from inspect_compile.tables.columns import text_lines
from inspect_compile.tables.kernels.autotune import COLUMNS as CHOICES
from inspect_compile.tables.kernels.autotune import margin_text, outcome_text, question_text
from inspect_compile.tables.kernels.binaries import binary_text
from inspect_compile.tables.kernels.kernel_page import computes_lines
from inspect_compile.tables.kernels.kernels import COLUMNS
from inspect_compile.tables.kernels.tiling_text import tiling_lines
from inspect_compile.tables.text import one_line
from inspect_compile.tui.models.chain import Chain
from inspect_compile.tui.models.code import Code, CodeLine, code_of
from inspect_compile.tui.models.sheet import Table

LANGUAGES: Final = {"cpp": "cpp", "triton": "python", "template": "python", "user_triton": "python"}
"""Kind of kernel → pygments' name of its language."""

SOURCE: Final = "source"
FORMS: Final = (SOURCE, *STAGES)
"""What is shown of a kernel: its source alone, or beside one of its stages."""

AUTOTUNE: Final = "autotune"
"""The mode of the view that shows tuning decisions."""

NOTE: Final = 18
SHORT_NOTE: Final = 8
"""Width of the note beside a statement if there is little room."""

_MOST_CALLS: Final = 64


def kernels(dump: Dump, chain: Chain) -> Table:
    """The kernels of the chain's graph in the order of their first launch."""
    found = rows_of_calls(dump, chain.graph, chain.kernels)
    keys = [kernel_key(kernel) for kernel in chain.kernels]
    return Table.of(COLUMNS, found, keys, [chain.of_kernel(position) for position in range(len(found))])


def kernel_key(kernel: Kernel) -> str:
    """Extern calls share their name, so the line of the first launch is part of the key."""
    return f"{kernel.graph} {kernel.name} {min(kernel.launches, default=0)}"


def kernel_source(dump: Dump, chain: Chain, kernel: Kernel, output: str, note: int = NOTE) -> Code:
    """The source of `kernel`, each statement beside its node; without a source, its calls in the generated code.

    `note` is the width in columns of a node's name.
    """
    found = of_kernels(configurations(dump, kernel.graph.partition("/")[0]))
    compiled = of_kernel(found, kernel.graph, kernel.name)
    lines = [CodeLine(kernel.name, role="title"), CodeLine(_summary(kernel), role="dim")]
    if kernel.inplace:
        lines.append(CodeLine(f"in place: {' '.join(kernel.inplace)}", role="dim"))
    if kernel.removed:
        lines.append(CodeLine(f"never stored: {' '.join(kernel.removed)}", role="dim"))
    if compiled:
        lines.append(CodeLine(binary_text(compiled), role="dim"))
    text = dump.text(kernel.graph, kernel.source) if kernel.source else None
    if text is not None:
        return Code([*lines, *_computed(chain, kernel), *_annotated(chain, kernel, text, note)])
    if kernel.kind != "extern":
        lines.append(
            CodeLine(f"its source is not in the dump{f', torch kept it in {kernel.path}' * bool(kernel.path)}")
        )
    written = dump.text(kernel.graph, output)
    calls = written.splitlines() if written is not None else []
    lines.append(CodeLine("called in the generated code:", role="dim"))
    lines += [
        CodeLine(calls[number - 1], number, language="python") for number in kernel.launches if 0 < number <= len(calls)
    ]
    return Code(lines)


def _computed(chain: Chain, kernel: Kernel) -> list[CodeLine]:
    bodies = _bodies(chain, kernel)
    calls = chain.calls_of.get((kernel.graph, kernel.name), []) if len(bodies) > 1 else []
    lines: list[str] = []
    for body in bodies:
        call = next((call for call in calls if not set(call.operations).isdisjoint(body.operations)), None)
        told = computes_lines(chain.statements.computed(body), len(kernel.nodes if call is None else call.nodes))
        lines += told if call is None else (f"line {call.line}: {line}" for line in told)
    return [CodeLine(line, role="dim") for line in lines]


def _bodies(chain: Chain, kernel: Kernel) -> list[KernelBody]:
    """One body for each group of operations that the same source runs for."""
    return chain.statements.bodies.get((kernel.graph, kernel.name), [])[:_MOST_CALLS]


def _annotated(chain: Chain, kernel: Kernel, text: str, note: int) -> list[CodeLine]:
    """The source; each statement stands for the first of its nodes, over all calls."""
    lines = code_of(text, LANGUAGES.get(kernel.kind, "")).lines
    rows = {row.line: row for row in chain.statements.of_all_calls(kernel) if row.nodes}
    most = 1 if len(_bodies(chain, kernel)) == 1 else None
    found = []
    for line in lines:
        own = rows.get(line.number or 0)
        found.append(
            line
            if own is None
            else line._replace(note=_note(own, note), subject=chain.of_nodes(own.graph, own.nodes[:most]))
        )
    return found


def _note(row: Annotated, most: int) -> str:
    """`relu 14`: the node and its line; `relu +1 14` if there are more nodes."""
    name, more = one_line(row.nodes[0]), f" +{len(row.nodes) - 1}" if len(row.nodes) > 1 else ""
    name = name if len(name) <= most else f"{name[: most - 1]}…"
    return f"{name}{more} {row.lines[0].line}" if row.lines else f"{name}{more}"


def _summary(kernel: Kernel) -> str:
    parts = [form_of(kernel), kernel.device, f"ops {' '.join(kernel.operations)}", f"nodes {' '.join(kernel.nodes)}"]
    if kernel.numel:
        parts.insert(2, f"sizes {' × '.join(kernel.numel)}")
    return "  ·  ".join(part for part in parts if part)


def autotune_sheet(dump: Dump, kernel: Kernel) -> Code:
    """The tuning decisions about `kernel`, each with the winner first."""
    lines = [CodeLine(kernel.name, role="title")]
    lines += [CodeLine(line, role="dim") for line in tiling_lines(kernel, shape(dump, kernel))]
    rows = tuned_of_kernel(autotuned(dump, kernel.graph.partition("/")[0]), kernel)
    for row in rows:
        lines += [CodeLine(""), *_question(row)]
    if not rows:
        lines.append(CodeLine("nothing of it was autotuned", role="dim"))
    return Code(lines)


def _question(row: Autotuned) -> Iterator[CodeLine]:
    yield CodeLine(one_line(question_text(row)), role="name")
    yield CodeLine(one_line(margin_text(row)), role="dim")
    for line in outcome_text(row):
        yield CodeLine(one_line(line), role="dim")
    titles, *choices = text_lines(CHOICES, row.choices)
    yield CodeLine(titles, role="dim")
    for option, text in zip(row.choices, choices, strict=True):
        yield CodeLine(text, role="good" if option.is_winner else "dim" if option.milliseconds is None else "")

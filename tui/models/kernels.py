"""The kernels that the generated code calls, their sources, and what torch's autotuning chose for them."""

from collections.abc import Iterator, Sequence
from typing import Final

from inspect_compile.analysis.cost.kernel_rows import rows_of_calls
from inspect_compile.analysis.kernels.autotuning import Autotuned, autotuned
from inspect_compile.analysis.kernels.autotuning import of_kernel as tuned_of_kernel
from inspect_compile.analysis.kernels.source_text import source_layout
from inspect_compile.analysis.kernels.stage_lines import ASSEMBLY, STAGES
from inspect_compile.analysis.kernels.tiling import form_of, shape
from inspect_compile.dump import Dump
from inspect_compile.facts import Kernel, KernelBody
from inspect_compile.graph import CompiledGraph, Id
from inspect_compile.graph.kernels.binaries import configurations, of_kernel, of_kernels
from inspect_compile.graph.kernels.statements import Annotated
from inspect_compile.tables.columns import text_lines
from inspect_compile.tables.kernels.autotune import COLUMNS as CHOICES
from inspect_compile.tables.kernels.autotune import margin_text, outcome_text, question_text
from inspect_compile.tables.kernels.binaries import binary_text
from inspect_compile.tables.kernels.kernels import COLUMNS
from inspect_compile.tables.kernels.tiling_text import tiling_lines
from inspect_compile.tables.styled_text import StyledLine, styled
from inspect_compile.tables.text import number_of, one_line
from inspect_compile.tui.models.chain import Chain
from inspect_compile.tui.models.code import Code, CodeLine, SheetLine, lines_of
from inspect_compile.tui.models.letters import UNFOLD
from inspect_compile.tui.models.open_strings import opened_in
from inspect_compile.tui.models.sheet import Table

LANGUAGES: Final = {"cpp": "cpp", "triton": "python", "template": "python", "user_triton": "python"}
"""Kind of kernel → pygments' name of its language."""

SOURCE: Final = "source"
FORMS: Final = (SOURCE, *STAGES, ASSEMBLY)
"""What is shown of a kernel: its source alone, or beside one of its stages."""

AUTOTUNE: Final = "autotune"
"""The mode of the view that shows tuning decisions."""

NOTE: Final = 18
SHORT_NOTE: Final = 8
"""Width of the note beside a statement if there is little room."""

_MOST_CALLS: Final = 64


def kernels(dump: Dump, chain: Chain, most: int | None = None) -> Table:
    """The kernels of the chain's graph in the order of their first launch; only the first `most` of them, if given."""
    shown = chain.kernels[:most]
    found = rows_of_calls(chain.compiled, shown)
    keys = [kernel_key(kernel) for kernel in shown]
    return Table.of(COLUMNS, found, keys, [chain.of_kernel(position) for position in range(len(found))])


def kernel_key(kernel: Kernel) -> str:
    """Extern calls share their name, so the line of the first launch is part of the key."""
    return f"{kernel.graph} {kernel.name} {min(kernel.launches, default=0)}"


def kernel_source(
    dump: Dump, chain: Chain, kernel: Kernel, output: str, note: int = NOTE, *, is_whole: bool = False
) -> Code:
    """The source of `kernel`, each statement beside its node; without a source, its calls in the generated code.

    `note` is the width in columns of a node's name. What comes before the first loop is one line, and the indentation
    that all lines share is left out, unless it `is_whole`; beside short notes the rest of it is halved in C++.
    """
    found = of_kernels(configurations(CompiledGraph(dump, kernel.graph).outermost))
    compiled = of_kernel(found, kernel.graph, kernel.name)
    lines: list[SheetLine] = [styled(kernel.name, "title"), styled(_summary(kernel), "dim")]
    if kernel.inplace:
        lines.append(styled(f"in place: {' '.join(kernel.inplace)}", "dim"))
    if kernel.removed:
        lines.append(styled(f"never stored: {' '.join(kernel.removed)}", "dim"))
    if compiled:
        lines.append(styled(binary_text(compiled), "dim"))
    text = dump.text(kernel.graph, kernel.source) if kernel.source else None
    if text is not None:
        return Code([*lines, *_computed(chain, kernel), *_annotated(chain, kernel, text, note, is_whole=is_whole)])
    if kernel.kind != "extern":
        lines.append(styled(f"its source is not in the dump{f', torch kept it in {kernel.path}' * bool(kernel.path)}"))
    written = dump.text(kernel.graph, output)
    calls = written.splitlines() if written is not None else []
    lines.append(styled("called in the generated code:", "dim"))
    lines += [
        CodeLine(calls[number - 1], number, language="python") for number in kernel.launches if 0 < number <= len(calls)
    ]
    return Code(lines)


def _computed(chain: Chain, kernel: Kernel) -> list[StyledLine]:
    bodies = _bodies(chain, kernel)
    calls = chain.calls_of.get(Id.of(kernel), []) if len(bodies) > 1 else []
    lines: list[str] = []
    for body in bodies:
        call = next((call for call in calls if not set(call.operations).isdisjoint(body.operations)), None)
        from inspect_compile.tables.kernels.kernel_page import computes_lines  # not before the rows are seen

        computed = computes_lines(chain.statements.computed(body), len(kernel.nodes if call is None else call.nodes))
        lines += computed if call is None else (f"line {call.line}: {line}" for line in computed)
    return [styled(line, "dim") for line in lines]


def _bodies(chain: Chain, kernel: Kernel) -> list[KernelBody]:
    """One body for each group of operations that the same source runs for."""
    return chain.statements.bodies.get(Id.of(kernel), [])[:_MOST_CALLS]


def _annotated(chain: Chain, kernel: Kernel, text: str, note: int, *, is_whole: bool) -> Sequence[SheetLine]:
    """The source; each statement stands for the first of its nodes, over all calls."""
    lines = lines_of(text, LANGUAGES.get(kernel.kind, ""))
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
    if is_whole:
        return found
    count, indent = source_layout(text.splitlines(), rows)
    share = 2 if note <= SHORT_NOTE and kernel.kind == "cpp" else 1
    body = [line._replace(text=_less_indented(line.text, indent, share)) for line in found[count:]]
    if count and body:
        opened = opened_in(text.splitlines(), LANGUAGES.get(kernel.kind, ""))
        body[0] = body[0]._replace(opened=opened.get(count, ""))
    return [*_folded(found[:count]), *body]


def _folded(lines: list[CodeLine]) -> Iterator[StyledLine]:
    """The line that stands for a prologue."""
    if lines:
        kinds = {
            "imports": "import ",
            "includes": "#include",
            "settings for Triton": "@triton_heuristics",
            "signature": 'extern "C"',
            "threads": "#pragma omp parallel",
        }
        texts = [line.text.lstrip() for line in lines]
        what = [name for name, start in kinds.items() if any(text.startswith(start) for text in texts)]
        heading = f"⋯ {number_of(len(lines), 'line')} folded: {', '.join(what) or 'what comes before the first loop'}"
        yield styled(f"{heading}   {UNFOLD}: show", "dim")


def _less_indented(text: str, indent: int, share: int) -> str:
    code = text.lstrip()
    return " " * (max(0, len(text) - len(code) - indent) // share) + code


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
    lines = [styled(kernel.name, "title")]
    lines += [styled(line, "dim") for line in tiling_lines(kernel, shape(dump, kernel))]
    rows = tuned_of_kernel(autotuned(CompiledGraph(dump, kernel.graph).outermost), kernel)
    for row in rows:
        lines += [styled(""), *_question(row)]
    if not rows:
        lines.append(styled("it was not autotuned", "dim"))
    return Code(lines)


def _question(row: Autotuned) -> Iterator[StyledLine]:
    yield styled(one_line(question_text(row)), "name")
    yield styled(one_line(margin_text(row)), "dim")
    for line in outcome_text(row):
        yield styled(one_line(line), "dim")
    titles, *choices = text_lines(CHOICES, row.choices)
    yield styled(titles, "dim")
    for option, text in zip(row.choices, choices, strict=True):
        yield styled(text, "good" if option.is_winner else "dim" if option.milliseconds is None else "")

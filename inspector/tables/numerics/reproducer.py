"""A script that makes one wrong launch again, with torch alone: the kernel, its inputs, the reference, the numbers."""

import json
import re
from typing import TYPE_CHECKING, Final

from inspect_compile.analysis.numerics.excerpts import excerpt_of
from inspect_compile.analysis.numerics.kept import KeptLaunch
from inspect_compile.errors import CommandError
from inspect_compile.facts import LoopNest
from inspect_compile.graph import CompiledGraph
from inspect_compile.knowledge.numerics.verdicts import beyond, tolerance
from inspect_compile.tables.text import place_text, unbroken

if TYPE_CHECKING:
    from inspect_compile.dump import Dump

_AS_WRONG: Final = 0.1
"""With other inputs a result is as wrong if its relative error is at least that part of the recorded one."""
_CAPABILITIES: Final = ("avx2", "avx512")
"""Vector instructions that torch can be asked for by name: the first word of those of a kernel."""
_NOT_IN_A_TEXT: Final = re.compile(r'["\\]')

_SCRIPT: Final = '''\
"""{title}

{about}
It needs {needs}. Exit status: 1 where the result is wrong, 0 where it is not.
"""

{vectors}{imports}
{recorded}

{definitions}


def empty(size, stride, dtype, device):
    """Memory that the launch has to write."""
    made = torch.empty_strided(size, stride, dtype=dtype, device=device)
    return made.fill_(nan) if made.is_floating_point() else made.zero_()


def compiled():
    """The result of the launch."""
    kept = recorded()
    given = kept["variables"] | {{name: empty(*one) for name, one in kept["empty"].items()}}
{variables}
    {statement}
    return {result}


{reference}

def difference(a, b):
    """The absolute difference of each element in fp64: infinite where only one of both is a number."""
    a, b = (one.to(torch.complex128 if one.is_complex() else torch.float64) for one in (a, b))
    same = (a == b) | (a.isnan() & b.isnan())
    return torch.where(same, 0.0, (a - b).abs()).nan_to_num(nan=inf, posinf=inf)


def main():
    found = compiled()
    eager, ideal = references()
    error, of_eager = difference(found, ideal), difference(eager, ideal)
    if not (found.is_floating_point() or found.is_complex()):  # at a tie it may be either of both
        error, of_eager = torch.minimum(error, difference(found, eager)), torch.zeros_like(error)
    worst = error.argmax()
    at = [int(one) for one in torch.unravel_index(worst, error.shape)]
    for name, value in (("compiled", found), ("eager", eager), ("exact", ideal)):
        print(f"{{name:9}} {node}{{at}} = {{value.flatten()[worst].item()!r}}")
    print(f"largest error: compiled {{error.max().item():.6g}}, eager {{of_eager.max().item():.6g}}")
    numbers = difference(ideal, torch.zeros_like(ideal))
    finite = numbers[numbers.isfinite()]
    scale = finite.square().mean().sqrt().item() if len(finite) else 0.0
    # The error that rounding makes of an element: eager's there, or what 99 of 100 elements have, with noise too.
    most = of_eager[of_eager.isfinite()].sort().values
    usual = max({noise}, most[round((len(most) - 1) * 0.99)].item() if len(most) else 0.0)
    numbers = torch.where(numbers.isfinite(), numbers, 0.0)
    bound = torch.maximum({beyond!r} * of_eager.clamp(min=usual), {tolerance!r} * numbers.clamp(min=scale))
    is_wrong = bool((error > bound).any())
    print("wrong" if is_wrong else "not wrong")
    return int(is_wrong)


if __name__ == "__main__":
    raise SystemExit(main())
'''

_FUNCTIONS: Final = '''\
{reference}

{exact}

def references():
    """Eager's value of {node}, and the exact one in fp64."""
    eager = reference(*recorded()["arguments"])
    torch.set_default_dtype(torch.float64)
    arguments = [wide(one) for one in recorded()["arguments"]]
    return eager, exact(*arguments)


def wide(value):
    """`value` in fp64, if it is a tensor of floating type."""
    return value.double() if torch.is_tensor(value) and value.is_floating_point() else value
'''

_LOADED: Final = '''\
from pathlib import Path

FILE = Path(__file__).with_name({file_literal})


def recorded():
    """What the launch was given."""
    return torch.load(FILE, weights_only=True)
'''

_RECORDED: Final = '''\
def references():
    """Eager's value of {node}, as it was recorded, also in the place of the exact one.

    {why}.
    """
    eager = recorded()["eager"]
    return eager, eager
'''


def reproducer(dump: "Dump", kept: KeptLaunch, file: str | None) -> str:
    """The script. `file` is the name of the file with the inputs beside it; without one they are drawn from a seed.

    With other inputs rounding is another: it is then taken as large, relative to the result, as in the check, and the
    result has to be as wrong, within a factor of 10. Raises CommandError for what the dump does not have.
    """
    inputs, found = kept
    if file is None and not inputs.drawn:
        raise CommandError(f"{inputs.kernel}: its inputs can't be drawn from a seed: {inputs.not_drawn}")
    around = excerpt_of(CompiledGraph(dump, inputs.graph), inputs.line)
    if around is None:
        raise CommandError(f"{inputs.graph}: line {inputs.line} of its output_code.py launches nothing known")
    if not inputs.result:
        raise CommandError(f"{inputs.kernel}: {inputs.buffer} is assembled from the results of several launches")
    measured = found.measured
    where = f" ({place_text(found.where)})" if found.where is not None else ""
    versions = dump.run.versions
    about = (
        f"{inputs.node}{where} in call {inputs.call:,} of {inputs.graph}, launched at line {inputs.line} of its"
        f" output_code.py.\nRecorded with torch {versions.get('torch', '?')} on {dump.run.device or 'the CPU'}."
    )
    noise, scale = measured.noise_99 or 0.0, measured.exact_rms or 0.0
    limit = tolerance(measured.dtype) if measured.rmse is not None else 0.0
    if file is None:
        largest = max(scale, abs(measured.exact or 0.0))
        limit = max(limit, _AS_WRONG * (measured.worst_error or 0.0) / largest if largest else 0.0)
    fields = {
        "title": _in_text(f"{inputs.kernel} computes something else than its FX node {inputs.node}."),
        "about": _in_text(about),
        "needs": "torch" if file is None else f"torch and the file {_in_text(file)}, next to it",
        "recorded": f"\n\n{inputs.drawn}" if file is None else _LOADED.format(file_literal=json.dumps(file)),
        "vectors": _vectors(CompiledGraph(dump, inputs.graph), inputs.kernel),
        "imports": around.imports,
        "definitions": around.definitions,
        "variables": "\n".join(f'    {name} = given["{name}"]' for name in inputs.variables if name.isidentifier()),
        "statement": "\n".join([*around.streams, around.statement]).replace("\n", "\n    "),
        "result": inputs.result,
        "reference": _reference(kept),
        "node": re.sub(r"\W", "_", inputs.node),
        "noise": repr(noise) if file is not None else f"{noise / scale if scale else 0.0!r} * scale",
        "beyond": beyond(measured.dtype),
        "tolerance": limit,
    }
    return _SCRIPT.format(**fields)


def _vectors(graph: "CompiledGraph", kernel: str) -> str:
    """What has torch compile a C++ kernel for the vectors that it was generated for; empty for another kernel, and for
    vectors that can't be asked for.
    """
    nests = [row for row in graph.rows(LoopNest) if row.kernel == kernel]
    capability = nests[0].instructions.partition(" ")[0] if nests else ""
    if capability not in _CAPABILITIES:
        return ""
    return f'import os\n\nos.environ["ATEN_CPU_CAPABILITY"] = {json.dumps(capability)}\n\n'


def _reference(kept: KeptLaunch) -> str:
    inputs = kept.inputs
    if inputs.no_reference:
        return _RECORDED.format(node=inputs.node, why=_in_text(inputs.no_reference))
    return _FUNCTIONS.format(reference=inputs.reference, exact=inputs.exact, node=inputs.node)


def _in_text(words: str) -> str:
    """Words from the dump in a docstring."""
    return _NOT_IN_A_TEXT.sub("'", "\n".join(map(unbroken, words.split("\n"))))

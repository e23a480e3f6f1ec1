"""Everything that is known of one checked result, in lines."""

from collections.abc import Iterator

from inspect_compile.analysis.numerics.verdicts import Judged
from inspect_compile.knowledge.numerics.levels import level_text
from inspect_compile.knowledge.numerics.verdicts import EXACT, NOT_COMPARABLE, VERDICTS, rounding_error
from inspect_compile.tables.text import number_of, place_text


def result_story(row: Judged) -> Iterator[str]:
    """The verdict and what it means, the errors, the worst element, and the source line."""
    found = row.measured
    yield f"{row.verdict}: {row.reason if row.verdict == NOT_COMPARABLE else VERDICTS[row.verdict]}"
    if found.mismatch:
        yield f"value     {found.mismatch}"
    elif found.elements:
        size = ", ".join(map(str, found.size))
        differ = "" if row.verdict == EXACT else f", {found.differing:,} not as eager's"
        yield f"value     {found.dtype}[{size}], {found.elements:,} elements{differ}"
    if row.times_rounding is not None:
        yield f"error     {row.times_rounding:.2g} × that of rounding"
        yield f"RMSE      {_short(found.rmse)}, eager {_short(found.eager_rmse)}, rounding {rounding_error(found):.2g}"
    if found.apart is not None:
        values = f"{_exactly(found.compiled)}, eager {_exactly(found.eager)}"
        yield f"error     not measured: it is at most {_short(found.apart)} from eager's, so it cannot be wrong"
        yield f"worst     {list(found.worst)}: {values}"
    if found.ulp_worst is not None:
        yield f"ULP       median {_short(found.ulp_median)}, 99 % {_short(found.ulp_99)}, max {_short(found.ulp_worst)}"
    if found.worst_error:
        values = f"{_exactly(found.compiled)}, eager {_exactly(found.eager)}, exact {_exactly(found.exact)}"
        yield f"worst     {list(found.worst)}: {values}"
    if found.nonfinite_wrong:
        yield f"NaN, Inf  {found.nonfinite_wrong:,} elements are, and should not be, or vice versa"
    if found.unexplained:
        yield f"elements  {number_of(found.unexplained, 'element')} further off than rounding explains"
    if found.on_edge:
        some = number_of(found.on_edge, "element")
        yield f"edges     {some} that rounding moves as far; the RMSE is that of the others"
    if found.not_once is not None:
        yield f"half      {found.not_once:.0%} of its elements are not the exact value, which this kernel rounds once"
    if found.is_mended:
        yield "later     the compiled code's result is right: a later pass or kernel removed the error"
    if found.untied:
        yield f"integers  {found.untied:,} elements differ, and rounding does not explain it"
    if found.unstable:
        yield f"again     {found.unstable:,} elements differ when it runs again on the same inputs"
    if found.unforced:
        yield f"reads     {', '.join(found.unforced)} as the compiled code wrote it"
    if found.is_step:
        yield f"step      of the lowering of {row.node}, compared with the loops of torch's IR"
    if found.turn:
        yield f"run       {found.turn:,} of the nested graph in this call"
    launched = f"{row.kernel}, line {row.line} of output_code.py" if row.kernel else level_text(row.level)
    yield f"written   {row.buffer} by {launched}, call {row.call:,}"
    if row.where is not None:
        yield f"line      {place_text(row.where)}   {row.where.code.strip()}".rstrip()


def _short(value: float | None) -> str:
    return "?" if value is None else f"{value:.2g}"


def _exactly(value: float | None) -> str:
    return "?" if value is None else f"{value:.6g}"

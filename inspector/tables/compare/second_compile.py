"""How far a second compile of a log's graph is the log's, in a sentence."""

from collections.abc import Iterator

from inspect_compile.analysis.compare.second_compile import Agreement, Calls, SameKernels


def agreement_text(found: Agreement) -> str:
    """`5 calls, as in the log; 3 of 3 kernels equal after renaming; other torch (2.8.0 → 2.13.0)`."""
    return "; ".join([_calls(found.calls), *_kernels(found.kernels), *_torch(found)])


def _calls(found: Calls | None) -> str:
    if found is None:
        return "the log has no code to compare it with"
    calls = f"{found.again:,} call{'s' * (found.again != 1)}"
    if found.same_kind == found.recorded == found.again:
        named = "" if found.same_name == found.recorded else f", {found.same_name:,} of them of the same name"
        return f"{calls}, as in the log{named}"
    return f"{calls}, {found.same_kind:,} of the log's {found.recorded:,} among them in the same order"


def _kernels(found: SameKernels) -> Iterator[str]:
    if not found.generated:
        if found.grouped:
            kernels = f"{found.grouped:,} kernel{'s' * (found.grouped != 1)}"
            yield f"{found.same_group:,} of {kernels} compute the same nodes; the log has no text of them"
        return
    equal = f"{found.equal:,} of {found.generated:,} kernel{'s' * (found.generated != 1)} equal after renaming"
    if found.equal == found.generated or not found.grouped:
        yield equal
    else:
        yield f"{equal}, {found.same_group:,} of {found.grouped:,} of the same nodes"
    if found.in_order < found.both:
        yield f"{found.both - found.in_order:,} of {found.both:,} in another order"


def _torch(found: Agreement) -> Iterator[str]:
    if found.recorded_torch and found.recorded_torch != found.torch:
        yield f"other torch ({found.recorded_torch} → {found.torch})"

"""Decides whether a matmul is padded for the GPU. Inductor would time both ways; here a table of timings decides."""

import importlib
from collections.abc import Callable
from typing import Any, NamedTuple

from inspect_compile.knowledge.targets import padding as table
from inspect_compile.lowering.core.scopes import allows_tf32
from inspect_compile.torch_compat import inductor
from inspect_compile.torch_compat import targets as names


class PaddingDecision(NamedTuple):
    """The decision for one matmul."""

    what: str
    """The matmul, for a remark."""
    done: str
    """What was decided and why, for a remark."""
    padded: bool


class Padding:
    """Decides about the matmuls of a process that compiles for the GPU `target`."""

    def __init__(self, target: str) -> None:
        self.current: PaddingDecision | None = None
        """The decision while Inductor looks at a matmul."""
        self._is_told = False
        self._gpu = table.GPU_OF.get(target)

    def install(self, timed: Callable[[PaddingDecision], None]) -> None:
        """Decide from now on. `timed` is called once for each matmul that Inductor would have timed."""
        plain = inductor.SHOULD_PAD.load()
        module = importlib.import_module(inductor.SHOULD_PAD.module)

        def should_pad(match: Any, first: Any, second: Any, op: Any, *rest: Any, **named: Any) -> bool:
            self.current = self._decision(first, second, str(op))
            always = getattr(module, names.PAD_WHATEVER_IT_TAKES)
            setattr(module, names.PAD_WHATEVER_IT_TAKES, self.current.padded or always)
            self._is_told = False
            try:
                return bool(plain(match, first, second, op, *rest, **named))
            finally:
                setattr(module, names.PAD_WHATEVER_IT_TAKES, always)
                self.current = None

        # torch's cache of timings is neither read nor written, as a compile on the real device would use it.
        decided: dict[str, bool] = {}

        def known(key: str) -> bool | None:
            if key in decided:  # torch would not time an equal matmul again, but each of them gets its remark
                self.ask()
            return decided.get(key)

        self._timed = timed
        inductor.SHOULD_PAD.put(should_pad)
        names.PAD_KNOWN.put(known)
        names.PAD_KEPT.put(decided.__setitem__)
        for name in (names.PAD_TIMINGS, names.PAD_TIMING_KEPT):
            name.put(lambda *_: None)

    def ask(self) -> bool:
        """Called where Inductor would time something: True if that is a matmul with and without padding."""
        if self.current is None:
            return False
        if not self._is_told:
            self._timed(self.current)
        self._is_told = True
        return True

    def _decision(self, first: Any, second: Any, op: str) -> PaddingDecision:
        dtype = str(first.dtype).removeprefix("torch.")
        operands = f"{_text(first.shape)} and {_text(second.shape)}"
        what = f"{op.rpartition('.')[2]} of {dtype} {operands}, with and without padding"
        lengths = [_hint(size) for size in (*first.shape, second.shape[-1])]
        numbers = [number for number in (*lengths, _rows(first), _rows(second)) if number is not None]
        seen = None
        if self._gpu and len(lengths) == 3 and len(numbers) == 5:  # a batch of matmuls has one more length
            m, k, n, rows, more_rows = numbers
            seen = table.seen(table.Matmul(m, k, n, dtype, rows, more_rows, tf32=allows_tf32() is not False))
        if seen is None:
            return PaddingDecision(what, "it was not padded, and the device may pad it", False)
        like = f"{self._gpu} padded {seen.padded} of {seen.of} like it, in a table of timings"
        if seen.decided is None:
            return PaddingDecision(what, f"it was not padded, and the device may pad it; an {like}", False)
        return PaddingDecision(what, f"it was {'' if seen.decided else 'not '}padded: an {like}", seen.decided)


def _hint(size: Any) -> int | None:
    """A size as a number, a symbolic one by its hint; None without one. The size is not compared, which
    would guard it.
    """
    hint = size if type(size) is int else getattr(size.node, "hint", None)
    return hint if type(hint) is int else None


def _rows(matrix: Any) -> int | None:
    """The stride between rows, or between columns if those are contiguous; None if neither are."""
    strides = [_hint(stride) for stride in matrix.stride()[-2:]]
    known = [stride for stride in strides if stride is not None]
    return max(known) if len(known) == 2 and 1 in known else None


def _text(shape: Any) -> str:
    return f"[{', '.join(str(size) if type(size) is int else str(size.node.expr) for size in shape)}]"

"""Is a matmul padded to sizes that suit the GPU? Inductor times that; here a table decides, where it knows."""

import importlib
from collections.abc import Callable
from typing import Any, NamedTuple

from inspect_compile.knowledge.targets import padding as table
from inspect_compile.lowering.core.scopes import allows_tf32
from inspect_compile.torch_compat import inductor
from inspect_compile.torch_compat import targets as names


class Decision(NamedTuple):
    """What is told of one matmul."""

    what: str
    done: str
    padded: bool


class Padding:
    """Decides in the place of the device. `current` is the matmul that Inductor asks about at the moment, else None."""

    def __init__(self, target: str) -> None:
        self.current: Decision | None = None
        self._is_told = False
        self._gpu = table.GPU_OF.get(target)

    def install(self, timed: Callable[[Decision], None]) -> None:
        """`timed` hears of each matmul that Inductor wanted to have timed, once."""
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

        # Neither is anything taken from torch's cache of timings, nor left there for a compile on the device.
        decided: dict[str, bool] = {}

        def known(key: str) -> bool | None:
            if key in decided:  # torch would have it timed once for all, which is told of each
                self.ask()
            return decided.get(key)

        self._timed = timed
        inductor.SHOULD_PAD.put(should_pad)
        names.PAD_KNOWN.put(known)
        names.PAD_KEPT.put(decided.__setitem__)
        for name in (names.PAD_TIMINGS, names.PAD_TIMING_KEPT):
            name.put(lambda *_: None)

    def ask(self) -> bool:
        """The device is to time something: is it a matmul with and without padding?"""
        if self.current is None:
            return False
        if not self._is_told:
            self._timed(self.current)
        self._is_told = True
        return True

    def _decision(self, first: Any, second: Any, op: str) -> Decision:
        dtype = str(first.dtype).removeprefix("torch.")
        operands = f"{_text(first.shape)} and {_text(second.shape)}"
        what = f"{op.rpartition('.')[2]} of {dtype} {operands}, with and without padding"
        sizes = [_hint(size) for size in (*first.shape, second.shape[-1])]
        m, k, n = sizes if len(sizes) == 3 else (None, None, None)  # a batch of matmuls has one more
        rows, more_rows = _rows(first), _rows(second)
        seen = None
        if (
            self._gpu
            and m is not None
            and k is not None
            and n is not None
            and rows is not None
            and more_rows is not None
        ):
            tf32 = allows_tf32() is not False
            seen = table.seen(table.Matmul(m, k, n, dtype, rows, more_rows, tf32=tf32))
        if seen is None:
            return Decision(what, "it was not padded, and the device may pad it", False)
        like = f"{self._gpu} padded {seen.padded} of {seen.of} like it, in a table of timings"
        if seen.decided is None:
            return Decision(what, f"it was not padded, and the device may pad it; an {like}", False)
        return Decision(what, f"it was {'' if seen.decided else 'not '}padded: an {like}", seen.decided)


def _hint(size: Any) -> int | None:
    """Also of a symbolic size, without comparing it."""
    hint = size if type(size) is int else getattr(size.node, "hint", None)
    return hint if type(hint) is int else None


def _rows(matrix: Any) -> int | None:
    """Elements from one row to the next, or from one column, where columns are contiguous."""
    strides = [_hint(stride) for stride in matrix.stride()[-2:]]
    known = [stride for stride in strides if stride is not None]
    return max(known) if len(known) == 2 and 1 in known else None


def _text(shape: Any) -> str:
    return f"[{', '.join(str(size) if type(size) is int else str(size.node.expr) for size in shape)}]"

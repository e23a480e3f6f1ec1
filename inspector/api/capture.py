"""`capture`, as a program and a notebook get it."""

import os
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from inspect_compile.api.recording import Recording
from inspect_compile.child.capture import recorded
from inspect_compile.child.run_config import Level


@contextmanager
def capture(
    dump: str | os.PathLike[str] | None = None,
    *,
    recompile: bool = False,
    numerics: bool | Mapping[str, object] = False,
    level: Level = "all",
) -> Iterator[Recording]:
    """Record what is compiled inside the block, to the directory `dump` (new or empty) or one in torch_compile_debug/.

    What was compiled before is not compiled again, and cannot be seen; `recompile` makes torch forget it first. A block
    in which nothing was compiled warns, and says why. In a program that runs under `inspect-compile run`, the dump of
    that run continues.

    `numerics` checks calls of what is compiled inside the block, as `inspect-compile numerics` does: True for the first
    call of each graph, or a mapping with fields of `facts.NumericsRequest`:
    `{"calls": [(1, 1), (100, 110)], "repeats": True}`.

    `level` says how much is made of what is seen, as `run --level` does: "facts", "texts", or "all", which waits for
    the texts for people (`kernels.txt` and so on) that are otherwise made by the first command that reads the dump.

    Raises CommandError for a directory, level or mapping that cannot be used, RuntimeError inside another capture.
    """
    with recorded(Recording, dump, recompile=recompile, numerics=numerics, level=level) as recording:
        yield recording
    if recording.nothing:
        warnings.warn(f"inspect_compile.capture saw nothing: {recording.nothing}", stacklevel=3)

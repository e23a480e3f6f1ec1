"""Does the program look at what torch's caches do? Hits are misses where their look-ups are passed over."""

import itertools
import logging
import os
import re
import stat
import sys
from collections.abc import Iterator
from types import FunctionType, ModuleType

from inspect_compile.torch_compat.inductor import CACHE_LOG, METRICS
from inspect_compile.torch_compat.targets import COUNTERS

COUNTED = "looks at torch's counters"
MEASURED = "looks at torch's metrics"
PACKED = "packs or unpacks what torch's caches hold"
LOGGED = "has torch log what its caches do"

_OWN = ("inspect_compile", "torch")
_SAID = re.compile(r'#[^\n]*|"""(?s:.*?)"""|\'\'\'(?s:.*?)\'\'\'')
"""Comments and docstrings: what they name, nobody looks at."""
_WAYS: tuple[tuple[str, tuple[re.Pattern[str], ...]], ...] = (
    (COUNTED, (re.compile(r"\bcounters\b"), re.compile(r"\b_dynamo\b"))),
    (COUNTED, (re.compile(r"\b(?:fxgraph|autograd)_cache_(?:hit|miss|bypass|guard_miss|saved)\b"),)),
    (
        MEASURED,
        (
            re.compile(
                r"\b_inductor\.metrics\b"
                r"|\bfrom torch\._inductor import (?:\((?:(?!\bimport\b)[^)])*?|(?:(?!\bimport\b)[^\n])*?)\bmetrics\b"
            ),
        ),
    ),
    (PACKED, (re.compile(r"\b(?:save|load)_cache_artifacts\b"),)),
)
"""What a program does, and the patterns that its text then has, all of them."""
_MOST_FILES = 200
_MOST_BYTES = 1 << 22
"""Of the program's own files, all together, that are looked through."""


def looks_at_caches() -> str | None:
    """How the program looks, as the end of the sentence "the program …"; None where it does not, or nothing tells."""
    return (
        _held()
        or next((way for text in _texts() for way in [_way_of_looking(text)] if way is not None), None)
        or _logged()
    )


def _held() -> str | None:
    """Does a module of the program's hold torch's own objects?"""
    counters = getattr(sys.modules.get(COUNTERS.module), COUNTERS.attribute, None)
    metrics = getattr(sys.modules.get(METRICS.module), METRICS.attribute, None)
    for name, module in list(sys.modules.items()):
        if type(module) is ModuleType and name.partition(".")[0] not in _OWN:
            for value in list(vars(module).values()):
                if counters is not None and value is counters:
                    return COUNTED
                if metrics is not None and value is metrics:
                    return MEASURED
    return None


def _way_of_looking(text: str) -> str | None:
    plain = _SAID.sub("", text)
    return next((way for way, patterns in _WAYS if all(pattern.search(plain) for pattern in patterns)), None)


def _logged() -> str | None:
    loggers = (logging.root.manager.loggerDict.get(name.module) for name in CACHE_LOG)
    has_logs = any(isinstance(log, logging.Logger) and log.isEnabledFor(logging.INFO) for log in loggers)
    return LOGGED if has_logs or os.environ.get("TORCH_TRACE") else None


def _texts() -> Iterator[str]:
    """The program's own: the names in its functions, its command, its script and the modules that lie beside it."""
    main = sys.modules.get("__main__")
    for value in list(vars(main).values()) if main is not None else ():
        if type(value) is FunctionType and value.__module__ == "__main__":
            yield " ".join(value.__code__.co_names)
    if sys.argv[:1] == ["-c"]:
        yield from sys.orig_argv[-len(sys.argv) :][:1]
    left = _MOST_BYTES
    for path in itertools.islice(_files(main), _MOST_FILES):
        try:
            if not stat.S_ISREG(os.stat(path).st_mode):
                continue
            with open(path, encoding="utf-8", errors="replace") as file:
                text = file.read(left)
        except (OSError, ValueError):
            continue
        yield text
        left -= len(text)
        if left <= 0:
            return


def _files(main: ModuleType | None) -> Iterator[str]:
    # When exit handlers run, a script has no `__file__` any more.
    script = getattr(main, "__file__", None) or getattr(getattr(main, "__loader__", None), "path", None)
    if isinstance(script, str):
        yield script
    folder = os.path.join(os.path.dirname(os.path.abspath(script)) if isinstance(script, str) else os.getcwd(), "")
    for name, module in list(sys.modules.items()):
        path = getattr(module, "__file__", None) if type(module) is ModuleType else None
        if not isinstance(path, str) or path == script or not path.startswith(folder):
            continue
        if name.partition(".")[0] in _OWN:  # `upgrade` puts links to us below its folder of dumps
            continue
        if path.endswith(".py") and not any(part in path[len(folder) :] for part in ("site-packages", "dist-packages")):
            yield path

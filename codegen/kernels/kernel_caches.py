"""The caches of compiled kernels: torch's of C++ kernels, Triton's own, and the one of what autotuning chose.

What a worker process of torch compiles is not seen.
"""

import functools
import itertools
import os
import shlex
import zlib
from collections.abc import Iterable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from inspect_compile.facts import KernelLookup
from inspect_compile.knowledge.caches.key_lines import KeyPartLines
from inspect_compile.lowering.core.key_parts import PARTS
from inspect_compile.lowering.core.scopes import SCOPES, compile_id, torch_object
from inspect_compile.probe import Probes, argument
from inspect_compile.torch_compat import codegen as names

PROBE = "codegen.kernel_caches"

_CPP_SOURCES: Final = ("main.cpp", "cpp")
"""Endings of the sources of C++ kernels."""
_SAVED: Final = {"hit": "hit", "miss": "miss"}
"""torch's words for what came of a look-up of the best configuration; where there was none it has others."""


def install_cpp(probes: Probes) -> None:
    """Hook the place where torch's cache names a C++ kernel after its source and the compiler's command."""

    def written(state: Any, instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> None:
        if argument(args, kwargs, 1, "extension") not in _CPP_SOURCES:
            return
        source = argument(args, kwargs, 0, "content")
        kernel = _kernel_with(source) if isinstance(source, str) else None
        if kernel is None:
            return
        key, path = result
        found = {"source": _text(kernel[1]), "command": _words(str(argument(args, kwargs, 2, "extra", "")))}
        is_there = os.path.exists(f"{os.path.splitext(path)[0]}.so")
        _tell(probes, "cpp", kernel[0], str(key), found, is_there=is_there)

    probes.wrap(PROBE, names.CODE_WRITTEN, after=written)


def install_triton(probes: Probes) -> None:
    """Hook the key of Triton's own cache, where it is computed in this process."""

    def keyed(state: Any, instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> None:
        if compile_id() is None:
            return  # a kernel of the program's own, outside of what torch compiles
        source, backend, options, environment = (argument(args, kwargs, at, name) for at, name in enumerate(_KEYED))
        function = getattr(source, "fn", None)
        found = {
            "source": _text(str(getattr(function, "src", getattr(source, "src", "")))),
            "arguments": _members(
                {name: getattr(source, name) for name in ("signature", "constants", "attrs") if hasattr(source, name)}
            ),
            "options": _members(getattr(options, "__dict__", {})),
            "backend": _text(str(backend.hash())),
            "environment": _members(environment),
            "triton_version": _text(str(result).partition("-")[0]),
        }
        key = sha256(str(result).encode()).hexdigest()
        folder, name = torch_object(names.TRITON_FOLDER), torch_object(names.TRITON_CACHE_KEY)
        is_there = folder is not None and name is not None and any(Path(str(folder), name(key)).glob("*.json"))
        _tell(probes, "triton", str(getattr(function, "__name__", "")), key, found, is_there=is_there)

    probes.wrap(PROBE, names.TRITON_KEY, after=keyed)


_KEYED: Final = ("src", "backend", "backend_options", "env_vars")


def tell_chosen(probes: Probes, kernel: str, autotuner: Any) -> None:
    """What torch remembers of an autotuner's kernel: which configuration was the fastest in an earlier run."""
    known = getattr(autotuner, "autotune_cache_info", None) or {}
    outcome = _SAVED.get(str(known.get("autotune_cache_state")))
    if outcome is None:
        return
    source = os.path.basename(str(getattr(autotuner, "filename", "") or ""))
    saved = getattr(getattr(autotuner, "save_cache_hook", None), "__self__", None)
    configurations = str(getattr(saved, "configs_hash", ""))
    found = {"source": _text(source), "configurations": _text(configurations)}
    _tell(probes, "autotune", kernel, "", found, is_there=outcome == "hit")


def _tell(probes: Probes, cache: str, kernel: str, key: str, found: dict[str, KeyPartLines], *, is_there: bool) -> None:
    probes.sink.add(
        KernelLookup(
            graph=compile_id() or "",
            cache=cache,
            kernel=kernel,
            outcome="hit" if is_there else "miss",
            key=key,
            components=PARTS.record(probes, found),
        )
    )


def _kernel_with(source: str) -> tuple[str, str] | None:
    """(name, text) of the kernel of the graph at hand that a C++ source begins with; None if it has none."""
    scope = SCOPES.here()
    if scope is None:
        return None
    start, kernels = source.lstrip(), [*scope.kernels.items()]
    last = scope.stash.get(PROBE, 0)
    # They are loaded in the order in which they were defined: nearly always it is the one after the last.
    for at in itertools.chain(range(last, len(kernels)), range(last)):
        name, kernel = kernels[at]
        if kernel.kind in ("cpp", "template") and kernel.text and start.startswith(kernel.text.strip()):
            scope.stash[PROBE] = at + 1
            return name, kernel.text
    return None


def _text(value: str) -> KeyPartLines:
    return KeyPartLines([("", sha256(value.strip().encode("utf-8", "backslashreplace")).hexdigest(), value)])


@functools.lru_cache(maxsize=16)
def _words(command: str) -> KeyPartLines:
    """The words of a command: their order is not told, so that one more word is one difference.

    Most kernels of a process have the same.
    """
    return _lines((word, word) for word in dict.fromkeys(_split(command)))


def _split(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError:
        return command.split()


def _members(values: Mapping[str, Any]) -> KeyPartLines:
    return _lines((str(name), str(value)) for name, value in sorted(values.items()))


def _lines(values: Iterable[tuple[str, str]]) -> KeyPartLines:
    lines = [(name, f"{zlib.crc32(value.encode('utf-8', 'backslashreplace')):08x}", value) for name, value in values]
    return KeyPartLines(lines or [("", "", "")])

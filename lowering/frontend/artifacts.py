"""The functions that AOTAutograd puts around a graph, and the bytecode that Dynamo makes."""

import dis
import functools
import importlib.util
import sys
import types
from typing import Any, Final

from inspect_compile.at_start import AtStart
from inspect_compile.lowering.core.artifacts import record_text
from inspect_compile.probe import Probes, argument
from inspect_compile.torch_compat import Name
from inspect_compile.torch_compat import traced as names

PROBE = "lowering.artifacts"

_MOST_CODE: Final = 40_000
"""Maximum size of bytecode that is printed, in bytes."""
_RESUMES: Final = "torch_dynamo_resume_in"


def record_bytecode(probes: Probes, which: str, code: Any) -> None:
    """Record the instructions of a code object."""
    if probes.keeps_texts and type(code) is types.CodeType and len(code.co_code) <= _MOST_CODE:
        record_text(probes, f"{code.co_name}_{which}_BYTECODE", _disassembler().Bytecode(code).dis())


@functools.cache
def _disassembler() -> Any:
    """Another instance of the module `dis`, which prints with the `print` of the process's start, not with a test's."""
    spec = dis.__spec__
    assert spec is not None
    assert spec.loader is not None
    own: Any = importlib.util.module_from_spec(spec)
    own.print = AtStart.print
    spec.loader.exec_module(own)
    return own


def record_resumed(probes: Probes, code: Any) -> None:
    """Record the instructions of the rest of a function after a graph break: it has no source of its own."""
    if _RESUMES in getattr(code, "co_name", ""):
        record_bytecode(probes, "ORIGINAL", code)


def install_wrappers(probes: Probes) -> None:
    """Hook what compiles the functions that AOTAutograd puts around a graph, unless it is the other module's."""
    name = names.WRAPPER_SOURCE
    found = getattr(sys.modules[name.module], name.attribute, None)
    if getattr(found, "__module__", name.module) == name.module:
        _watch_sources(probes, name)


def install_wrappers_of_codegen(probes: Probes) -> None:
    """Hook the same where torch 2.14 and later have it."""
    _watch_sources(probes, names.WRAPPER_SOURCE_OF_CODEGEN)


def _watch_sources(probes: Probes, name: Name) -> None:
    def made(instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        title, source = argument(args, kwargs, 3, "artifact_name"), argument(args, kwargs, 0, "source")
        if type(title) is str and type(source) is str:
            record_text(probes, title, source)

    probes.wrap(PROBE, name, before=made)


def install_bytecode(probes: Probes) -> None:
    """Hook the bytecode that Dynamo made."""

    def made(instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        record_bytecode(probes, "MODIFIED", argument(args, kwargs, 0, "code"))

    probes.wrap(PROBE, names.GUARDED_CODE, before=made)

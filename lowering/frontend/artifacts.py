"""Texts that torch makes or would print about a compile: recorded under torch's own names for them."""

import dis
import traceback
import types
from typing import Any, Final

from inspect_compile.facts import Artifact
from inspect_compile.lowering.core.scopes import compile_id
from inspect_compile.probe import Probes, argument
from inspect_compile.torch_compat import Name
from inspect_compile.torch_compat import traced as names

PROBE = "lowering.artifacts"

LONGEST: Final = 400_000
"""Maximum length of a text, in characters."""
_MOST_CODE: Final = 40_000
"""Maximum size of bytecode that is printed, in bytes."""
_RESUMES: Final = "torch_dynamo_resume_in"


def record(probes: Probes, name: str, text: str) -> None:
    """Record a text of the compile on this thread, unless texts are not kept."""
    if probes.keeps_texts:
        left = max(0, len(text) - LONGEST)
        probes.sink.add(Artifact(graph=compile_id() or "", name=name, text=text[:LONGEST], cut=left))


def record_error(probes: Probes, name: str, error: BaseException | None, above: str = "") -> None:
    """Record the traceback of an exception, with what is to stand above it."""
    if error is not None and probes.keeps_texts:
        record(probes, name, f"{above}{''.join(traceback.format_exception(error))}")


def record_bytecode(probes: Probes, which: str, code: Any) -> None:
    """Record the instructions of a code object."""
    if probes.keeps_texts and type(code) is types.CodeType and len(code.co_code) <= _MOST_CODE:
        record(probes, f"{code.co_name}_{which}_BYTECODE", dis.Bytecode(code).dis())


def record_resumed(probes: Probes, code: Any) -> None:
    """Record the instructions of the rest of a function after a graph break: it has no source of its own."""
    if _RESUMES in getattr(code, "co_name", ""):
        record_bytecode(probes, "ORIGINAL", code)


def install_wrappers(probes: Probes) -> None:
    """Hook what compiles the functions that AOTAutograd puts around a graph."""
    _watch_sources(probes, names.WRAPPER_SOURCE)


def install_wrappers_of_codegen(probes: Probes) -> None:
    """Hook the same where torch 2.14 and later have it."""
    _watch_sources(probes, names.WRAPPER_SOURCE_OF_CODEGEN)


def _watch_sources(probes: Probes, name: Name) -> None:
    def made(instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        title, source = argument(args, kwargs, 3, "artifact_name"), argument(args, kwargs, 0, "source")
        if type(title) is str and type(source) is str:
            record(probes, title, source)

    probes.wrap(PROBE, name, before=made)


def install_bytecode(probes: Probes) -> None:
    """Hook the bytecode that Dynamo made."""

    def made(instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        record_bytecode(probes, "MODIFIED", argument(args, kwargs, 0, "code"))

    probes.wrap(PROBE, names.GUARDED_CODE, before=made)

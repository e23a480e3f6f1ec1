"""What torch_compat says of private names, held against the torch that is installed, and against our own code."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from inspect_compile.child import probes
from inspect_compile.torch_compat import Attribute, Frame, Name
from tests.private_names import can_be_there, covers, functions_of, is_there, names, told

ROOT = Path(__file__).parents[2]
FRAMES, ATTRIBUTES = list(told(Frame)), list(told(Attribute))


def modules() -> Iterator[tuple[str, ast.Module]]:
    """Those of the product that may touch torch, but for torch_compat: path below the repository → its code."""
    for room in ("inspector", "lowering", "codegen"):
        for path in sorted((ROOT / room).rglob("*.py")):
            if path.parent.name != "torch_compat":
                yield str(path.relative_to(ROOT)), ast.parse(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", list(names()), ids=str)
def test_a_name_is_there_in_the_versions_that_it_was_seen_in_and_in_no_other(name: Name) -> None:
    if not can_be_there(name):
        pytest.skip("builds of torch with CUDA have it")
    assert is_there(name) == covers(name, torch.__version__), f"{name.versions}, here is torch {torch.__version__}"


@pytest.mark.parametrize("frame", FRAMES, ids=str)
def test_a_function_has_the_variables_that_are_read_in_its_frame(frame: Frame) -> None:
    functions = functions_of(frame)
    assert is_there(frame) == covers(frame, torch.__version__), f"{frame.versions}, here is torch {torch.__version__}"
    known = {name for code in functions for name in (*code.co_varnames, *code.co_cellvars, *code.co_freevars)}
    assert known.issuperset(frame.variables) or not functions


@pytest.mark.parametrize("attribute", ATTRIBUTES, ids=str)
def test_a_private_attribute_is_set_where_it_was_seen(attribute: Attribute) -> None:
    told = f"{attribute}, here is torch {torch.__version__}"
    assert is_there(attribute) == covers(attribute, torch.__version__), told


@pytest.mark.parametrize("name", [*names(), *FRAMES, *ATTRIBUTES], ids=str)
def test_a_name_says_why_it_is_needed(name: Name | Frame | Attribute) -> None:
    assert len(name.reason) > 10


def test_every_name_stands_once() -> None:
    every = [str(name) for name in (*names(), *ATTRIBUTES)]
    assert len(every) > 40
    assert sorted(set(every)) == sorted(every)


def is_private(dotted: str) -> bool:
    """Does a part of it after `torch` begin with an underscore? What torch.ops has are operators."""
    first, *parts = dotted.split(".")
    is_operator = parts[:1] == ["ops"]
    return first == "torch" and not is_operator and any(part.startswith("_") and part[-2:] != "__" for part in parts)


def reached(tree: ast.AST) -> Iterator[str]:
    """The names of torch that a module imports, or reaches as attributes of `torch`."""
    for node in ast.walk(tree):
        match node:
            case ast.ImportFrom(module=str(module)):
                yield from (f"{module}.{alias.name}" for alias in node.names)
            case ast.Import():
                yield from (alias.name for alias in node.names)
            case ast.Attribute():
                yield ast.unparse(node)


def test_no_module_but_those_of_torch_compat_reaches_a_private_name() -> None:
    found = {f"{path}: {name}" for path, tree in modules() for name in reached(tree) if is_private(name)}
    assert not found
    example = "from torch._inductor import config\nfrom torch.utils import _pytree\ntorch._C.DispatchKey"
    assert {"torch._inductor.config", "torch.utils._pytree", "torch._C.DispatchKey"} <= set(
        filter(is_private, reached(ast.parse(example)))
    )


PYTHONS = ("_replace", "_getframe", "_asdict", "_fork_exec", "_run_exitfuncs", "_name")
"""Attributes of Python's own modules and classes."""


def attributes(tree: ast.AST) -> Iterator[str]:
    """The private attributes that a module reads or sets, and does not define itself."""
    own = set(PYTHONS)
    used: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                own.add(name)
            case ast.AnnAssign(target=ast.Name(id=name)):
                own.add(name)
            case ast.Attribute(value=ast.Name(id="self" | "cls"), attr=name, ctx=ast.Store()):
                own.add(name)
            case ast.Attribute(value=ast.Name(id="self" | "os" | "system")):
                continue
            case ast.Attribute(attr=name) if not ast.unparse(node).startswith(("torch.ops.", "aten.", "os.")):
                used.add(name)
            case ast.Call(
                func=ast.Name(id="getattr" | "hasattr" | "setattr"), args=[_, ast.Constant(value=str(name)), *_]
            ):
                used.add(name)
    yield from (name for name in used - own if name.startswith("_") and not name.endswith("__"))


TRITONS = {"_repr"}


def test_no_module_reads_a_private_attribute_that_is_not_told_here() -> None:
    known = {attribute.attribute for attribute in ATTRIBUTES} | TRITONS
    rooms = ("lowering", "codegen", "inspector/child", "inspector/probe", "inspector/launch")
    found = {
        f"{path}: {name}"
        for path, tree in modules()
        if path.startswith(rooms)
        for name in set(attributes(tree)) - known
    }
    assert not found
    assert list(attributes(ast.parse("node._body"))) == ["_body"]


OF_THE_PROGRAM = {"inspector/interrupts.py", "lowering/frontend/dynamo.py"}
"""They look at variables of the program's, or of their own."""
BY_FRAME = {
    "lowering/frontend/failures.py",
    "lowering/core/values.py",
    "lowering/runtime/cudagraph_runs.py",
    "lowering/intervention/cross_compile/program/user_kernels.py",
}


def test_variables_of_torchs_frames_are_read_by_what_is_told_here() -> None:
    reading = {
        path: [node for node in ast.walk(tree) if isinstance(node, ast.Attribute) and node.attr == "f_locals"]
        for path, tree in modules()
    }
    assert {path for path, found in reading.items() if found} == OF_THE_PROGRAM | BY_FRAME


OF_TEXTS = (
    "inspector/origins/",
    "lowering/intervention/replay/strangers.py",
    "lowering/intervention/replay/user_kernels.py",
)
"""What reads texts that torch wrote names what stands in them, and reaches nothing of torch."""


def test_no_module_names_a_module_of_torch_that_no_name_is_told_of() -> None:
    known = {name.module for name in names()}
    texts = {
        f"{path}: {node.value}"
        for path, tree in modules()
        if not str(path).startswith(OF_TEXTS)
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and node.value.replace(".", "").replace("_", "").isalnum()
        and is_private(node.value)
        and node.value not in known
        and not node.value.startswith(SETTINGS)
        and not node.value.endswith(".")
    }
    assert not texts
    assert {entry.watches for entry in (*probes.PROBES, *probes.MEASURE, *probes.MAPPING)} - {probes.TORCH} <= known | {
        "triton.runtime.autotuner",
        "vllm.compilation.decorators",
    }


def test_every_installer_is_a_function_of_its_module() -> None:
    """They are named by texts, as none may be imported before what it watches."""
    defined = {path.removesuffix(".py").replace("/", "."): set(top_names(tree)) for path, tree in modules()}
    entries = (*probes.PROBES, *probes.MEASURE, *probes.MAPPING, *probes.CHECKED, *probes.STORES)
    named = [entry.installer for entry in (*entries, probes.SENDER, probes.TRACER, probes.TRIAL, probes.STEER)]
    for text in (*named, probes.COLLECTIVES, probes.FAILED_CALL, probes.PROGRAM, probes.CHECK):
        module, _, name = text.removeprefix("inspect_compile.").partition(":")
        assert name in defined[module], text


def top_names(tree: ast.Module) -> Iterator[str]:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Assign):
            yield from (target.id for target in node.targets if isinstance(target, ast.Name))


SETTINGS = ("torch._inductor.config.", "torch._functorch.config.", "torch._dynamo.config.")
"""What a person is told to set; test_knobs.py holds them against torch."""


def test_versions_are_compared_as_numbers() -> None:
    name = Name("module", "attribute", "a test", "2.9-2.11")
    assert [covers(name, text) for text in ("2.8.1", "2.9.0", "2.10.0+cpu", "2.11.1", "2.12.0")] == [
        False,
        True,
        True,
        True,
        False,
    ]

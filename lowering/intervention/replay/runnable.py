"""Parses fx_graph_runnable.py, as torch writes it for every graph, without running it. Imports no torch."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

_NOT_WRITTEN: Final = "Repro is not generated"
_FAILED: Final = re.compile(r"^ERROR: Repro will not work as intended, (.*)$", re.MULTILINE)
_SUBGRAPH: Final = re.compile(r"^([^\S\n]+self\.(\w+) = )(?:<lambda>|GraphModule)\(.*\)$", re.MULTILINE)
_PRINTED: Final = re.compile(r"^([^\S\n]+self\.\w+ = \w+\()\n((?:[^\S\n]+\S.*\n)+)(?=\))", re.MULTILINE)
"""A module with others in it, as Python prints it over several lines, which is no Python."""
_LAMBDA: Final = re.compile(r"^([^\S\n]*class )<lambda>\(", re.MULTILINE)
_KERNEL: Final = re.compile(r"\.add_kernel\(((\w+)_\d+)\)")
_RAGGED: Final = re.compile(r"(?:(\d+) \* )?j(\d+)")
_SYMBOL: Final = re.compile(r"(?:s|u|ps|zf|zuf)\d+")
_KEPT: Final = ("TORCHINDUCTOR_", "TORCHDYNAMO_", "TRITON_", "TORCH_")
_LEFT: Final = re.compile(
    r"(?:_DIR|_PATH|_HOME|_FILE|_REMOTE_CACHE)$|LOG|TRACE|DEBUG|_DUMP|REPRO|NCCL|SERVER|CACHE_MANAGER"
)
"""Variables that name places of the recording machine, or make torch write more."""


class RefusedError(Exception):
    """Why the graph cannot be compiled again, or not as requested, in one line."""


@dataclass(frozen=True)
class Body:
    """The `forward` of a graph, and those of its subgraphs."""

    function: ast.FunctionDef
    children: "dict[str, Body]"


@dataclass(frozen=True)
class Runnable:
    """The parts of the file."""

    environment: dict[str, str]
    """The environment variables that affect a compile, as recorded."""
    hints: dict[str, int]
    """Symbol → its hint."""
    ragged: dict[str, tuple[int, int]]
    """Symbol of the ragged size of a jagged tensor, which is no number → which one, and a factor: `2*j1`."""
    settings: list[ast.stmt]
    """Assignments to torch's config modules."""
    program: ast.Module
    """What else must be run: imports, the program's Triton kernels, `Repro` with its constants, `load_args`."""
    body: Body
    source: str


def runnable(text: str, readable: str) -> Runnable:
    """Parse the file. Subgraphs that torch did not write there are taken from `readable`, fx_graph_readable.py."""
    if text.startswith(_NOT_WRITTEN):
        raise RefusedError("torch writes no fx_graph_runnable.py for a graph with a BackwardState among its inputs")
    if failure := _FAILED.search(text):
        raise RefusedError(f"torch could not write all of the graph: {failure[1]}")
    subgraphs = [match[2] for match in _SUBGRAPH.finditer(text)]
    source = _SUBGRAPH.sub(r"\1None", text)
    source = _PRINTED.sub(lambda found: found[1] + "\n" * (1 + found[2].count("\n")), source)
    for numbered, name in _KERNEL.findall(source):  # torch numbers them, and would do so again
        source = source.replace(f"def {numbered}(", f"def {name}(").replace(
            f"add_kernel({numbered})", f"add_kernel({name})"
        )
    statements = _parsed(source, "fx_graph_runnable.py").body
    environment: dict[str, str] = {}
    hints: dict[str, int] = {}
    ragged: dict[str, tuple[int, int]] = {}
    settings: list[ast.stmt] = []
    program: list[ast.stmt] = []
    for statement in statements:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant(value=int(hint))) if _SYMBOL.fullmatch(
                name
            ):
                hints[name] = hint
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if _SYMBOL.fullmatch(name) and (
                size := _RAGGED.fullmatch(ast.unparse(value))
            ):
                ragged[name] = int(size[2]), int(size[1] or 1)
            case ast.Assign(
                targets=[ast.Subscript(value=where, slice=ast.Constant(value=str(name)))],
                value=ast.Constant(value=str(value)),
            ) if ast.unparse(where) == "os.environ":
                if name.startswith(_KEPT) and not _LEFT.search(name):
                    environment[name] = value
            case ast.Expr(value=ast.Call(func=called)) if ast.unparse(called) == "os.environ.pop":
                continue
            case ast.Assign(targets=[ast.Attribute() as target]) if ".config." in f"{ast.unparse(target)}.":
                settings.append(statement)
            case ast.Assign(targets=[ast.Name(id="mod")]) | ast.If(test=ast.Compare(left=ast.Name(id="__name__"))):
                continue
            case _:
                program.append(statement)
    classes = {statement.name: statement for statement in statements if isinstance(statement, ast.ClassDef)}
    body = _body(classes["Repro"], classes) if "Repro" in classes else None
    if body is None:
        raise RefusedError("fx_graph_runnable.py holds no graph")
    if subgraphs:
        body.children.update(_children(readable, subgraphs))
    return Runnable(environment, hints, ragged, settings, ast.Module(program, []), body, source)


def _body(owner: ast.ClassDef, classes: dict[str, ast.ClassDef]) -> Body | None:
    """The graph of a class, and of the subgraphs that it instantiates, as torch 2.14 and later write them."""
    function = _forward(owner)
    if function is None:
        return None
    children = {}
    for statement in ast.walk(owner):
        match statement:
            case ast.Assign(
                targets=[ast.Attribute(value=ast.Name(id="self"), attr=name)], value=ast.Call(func=ast.Name(id=kind))
            ) if kind in classes and kind != owner.name and (child := _body(classes[kind], classes)) is not None:
                children[name] = child
    return Body(function, children)


def _parsed(source: str, name: str) -> ast.Module:
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError) as error:
        line = getattr(error, "lineno", None)
        raise RefusedError(f"{name} is not Python{f' at line {line}' if line else ''}: {error}") from None


def _children(readable: str, wanted: list[str]) -> dict[str, Body]:
    tree = _parsed(_LAMBDA.sub(r"\1Graph(", readable), "fx_graph_readable.py")
    outer = next((node for node in tree.body if isinstance(node, ast.ClassDef)), None)
    there = _bodies(outer) if outer is not None else {}
    if missing := [name for name in wanted if name not in there]:
        raise RefusedError(f"fx_graph_readable.py does not have the subgraph {missing[0]}")
    return there


def _bodies(outer: ast.ClassDef) -> dict[str, Body]:
    found = {}
    for node in outer.body:
        if isinstance(node, ast.ClassDef) and (function := _forward(node)) is not None:
            found[node.name] = Body(function, _bodies(node))
    return found


def _forward(owner: ast.ClassDef) -> ast.FunctionDef | None:
    return next((node for node in owner.body if isinstance(node, ast.FunctionDef) and node.name == "forward"), None)


def names_in(expression: ast.AST) -> Iterator[str]:
    """The plain names in an expression."""
    return (node.id for node in ast.walk(expression) if isinstance(node, ast.Name))


def annotations(function: ast.FunctionDef) -> dict[str, Any]:
    """Argument → its annotation by `print_readable`: `f32[8, 8]`."""
    return {
        argument.arg: argument.annotation.value
        for argument in function.args.args
        if isinstance(argument.annotation, ast.Constant)
    }

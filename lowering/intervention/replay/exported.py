"""The text of an exported graph, as AOTInductor compiles it, as that of any other: its parameters become inputs.

The text has no contents of parameters, nor the modules that hold them; their sizes are known from the graph's readable
text. Imports no torch.
"""

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from inspect_compile.lowering.intervention.replay.known import TensorText
from inspect_compile.lowering.intervention.replay.runnable import Body, RefusedError, Runnable

_FLATTEN: Final = "fx_pytree.tree_flatten_spec"
_UNFLATTEN: Final = "pytree.tree_unflatten"
_NOT_SET: Final = (
    "torch._inductor.config.aot_inductor.",
    "torch._inductor.config.triton.autotune_at_compile_time", "torch._inductor.config.triton.store_cubin",
)  # fmt: skip
"""Settings of a package, and what would run kernels as it compiles them."""


def is_exported(recorded: Runnable) -> bool:
    """Whether the graph takes its inputs out of trees, as an exported program does."""
    return any(_flattened(statement) is not None for statement in recorded.body.function.body)


def of_exported(recorded: Runnable, attributes: Mapping[str, TensorText]) -> tuple[Runnable, list[str]]:
    """The graph with plain inputs, and the names of those that are parameters.

    `attributes`: node that reads a parameter → what it is. Raises RefusedError for one that is not known.
    """
    inputs: list[str] = []
    parameters: list[str] = []
    statements: list[ast.stmt] = []
    function = recorded.body.function
    for statement in function.body:
        if (names := _flattened(statement)) is not None:
            inputs = inputs or names
        elif (name := _reading(statement, recorded.program)) is not None:
            parameters.append(name)
        else:
            statements.append(_returning(statement))
    for name in parameters:
        if name not in attributes:
            raise RefusedError(f"the graph reads the parameter {name}, whose size was not recorded")
    arguments = ast.arguments(
        posonlyargs=[],
        args=[ast.arg(name) for name in ("self", *inputs, *parameters)],
        kwonlyargs=[],
        kw_defaults=[],
        defaults=[],
    )
    plain = ast.copy_location(ast.FunctionDef("forward", arguments, statements, []), function)
    ast.fix_missing_locations(plain)
    program = [_without_modules(statement, plain) for statement in recorded.program.body]
    for statement in program:
        if isinstance(statement, ast.FunctionDef) and statement.name == "load_args":
            statement.body.extend(_loading([attributes[name] for name in parameters]))
    settings = [
        setting
        for setting in recorded.settings
        if not (isinstance(setting, ast.Assign) and ast.unparse(setting.targets[0]).startswith(_NOT_SET))
    ]
    changed = replace(
        recorded,
        settings=settings,
        program=ast.Module(program, []),
        body=Body(plain, recorded.body.children),
    )
    return changed, parameters


def _flattened(statement: ast.stmt) -> list[str] | None:
    match statement:
        case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Call(func=called)) if ast.unparse(
            called
        ) == _FLATTEN and all(isinstance(name, ast.Name) for name in names):
            return [name.id for name in names if isinstance(name, ast.Name)]
    return None


def _reading(statement: ast.stmt, program: ast.Module) -> str | None:
    """The node that reads a parameter of a module within the graph's, or one of its own."""
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)], value=value):
            chain = _chain(value)
            if chain is not None and (len(chain) > 1 or chain[0] in _own_parameters(program)):
                return name
    return None


def _chain(value: ast.expr) -> list[str] | None:
    """`["layers", "0", "weight"]` of `getattr(self.layers, "0").weight`."""
    names: list[str] = []
    while True:
        match value:
            case ast.Name(id="self"):
                return names[::-1] or None
            case ast.Attribute(value=inner, attr=name):
                names.append(name)
            case ast.Call(func=ast.Name(id="getattr"), args=[inner, ast.Constant(value=str(name))], keywords=[]):
                names.append(name)
            case _:
                return None
        value = inner


def _own_parameters(program: ast.Module) -> set[str]:
    found = set()
    for owner in program.body:
        if isinstance(owner, ast.ClassDef) and owner.name == "Repro":
            for node in ast.walk(owner):
                match node:
                    case ast.Assign(targets=[ast.Attribute(value=ast.Name(id="self"), attr=name)], value=value) if (
                        ast.unparse(value).startswith("torch.nn.Parameter(")
                    ):
                        found.add(name)
    return found


def _returning(statement: ast.stmt) -> ast.stmt:
    match statement:
        case ast.Return(value=ast.Call(func=called, args=[result, *_])) if ast.unparse(called) == _UNFLATTEN:
            return ast.copy_location(ast.Return(result), statement)
    return statement


def _without_modules(statement: ast.stmt, plain: ast.FunctionDef) -> ast.stmt:
    """The class of the graph without modules and parameters: nothing reads them."""
    if not (isinstance(statement, ast.ClassDef) and statement.name == "Repro"):
        return statement
    members: list[ast.stmt] = []
    for member in statement.body:
        match member:
            case ast.FunctionDef(name="forward"):
                members.append(plain)
            case ast.FunctionDef(name="__init__"):
                kept = [line for line in member.body if not _is_module(line)] or [ast.Pass()]
                member.body = [ast.fix_missing_locations(ast.copy_location(line, member)) for line in kept]
                members.append(member)
            case _:
                members.append(member)
    statement.body = members
    return statement


def _is_module(line: ast.stmt) -> bool:
    match line:
        case ast.Assign(targets=[ast.Attribute(value=ast.Name(id="self"))], value=ast.Call()):
            return True
    return False


def _loading(parameters: Sequence[TensorText]) -> Iterator[ast.stmt]:
    """The lines of `load_args` for further inputs."""
    for number, (dtype, size, stride, device) in enumerate(parameters, 1):
        storage = f"buf{number}00000"
        sizes, strides = (f"({''.join(f'{item}, ' for item in lengths)})" for lengths in (size, stride))
        text = (
            f"{storage} = reader.storage(None, 0, device=device({device or 'cpu'!r}))\n"
            f"reader.tensor({storage}, {sizes}, {strides}, dtype=torch.{dtype}, is_leaf=True)\n"
        )
        try:
            yield from ast.parse(text).body
        except (SyntaxError, ValueError, RecursionError):
            raise RefusedError(f"the size {sizes[:80]} of a parameter can't be recreated") from None

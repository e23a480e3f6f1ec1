"""A stranger's Triton kernels as operators that only their program defines: calls of unknown content.

Triton runs Python as it compiles a kernel, so that none of a stranger's is given to it. What a kernel writes to, and
which tensors it is given, the graph says. Imports no torch.
"""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace
from keyword import iskeyword
from typing import Final

from inspect_compile.lowering.intervention.replay.runnable import Body, RefusedError, Runnable
from inspect_compile.lowering.intervention.replay.schemas import FUNCTIONAL, operator_path

SPACE: Final = "user_triton_kernel"
"""The namespace of their operators."""
_CALL: Final = "triton_kernel_wrapper_functional"
_TABLE: Final = "torch._higher_order_ops.triton_kernel_wrap.kernel_side_table"
_DECORATORS: Final = ("triton.jit", "triton.autotune", "triton.heuristics")


def without_user_kernels(recorded: Runnable) -> Runnable:
    """The graph with a call of an operator in the place of each kernel, and without their texts.

    Raises RefusedError for a call that is not as torch writes it.
    """
    names = list(_kernels(recorded.program))
    if not names:
        return recorded
    program = [statement for statement in recorded.program.body if not _is_of_kernels(statement)]
    body = _body(recorded.body, names)
    for statement in program:
        if isinstance(statement, ast.ClassDef) and statement.name == "Repro":
            statement.body = [
                body.function if isinstance(member, ast.FunctionDef) and member.name == "forward" else member
                for member in statement.body
            ]
    return replace(recorded, program=ast.Module(program, []), body=body)


def _kernels(program: ast.Module) -> Iterator[str]:
    """The names of the kernels, in the order of their numbers."""
    for statement in program.body:
        match statement:
            case ast.Expr(value=ast.Call(func=called, args=[ast.Name(id=name)])) if (
                ast.unparse(called) == f"{_TABLE}.add_kernel"
            ):
                yield name


def _is_of_kernels(statement: ast.stmt) -> bool:
    """Whether it defines a kernel, a constant of one, or numbers it."""
    match statement:
        case ast.FunctionDef(decorator_list=decorators) if decorators:
            return all(ast.unparse(one).startswith(_DECORATORS) for one in decorators)
        case ast.Expr(value=ast.Call(func=called)):
            return ast.unparse(called).startswith(f"{_TABLE}.")
        case ast.Assign(targets=[ast.Attribute() as target]):
            return ast.unparse(target).startswith(f"{_TABLE}.")
        case ast.Assign(targets=[ast.Name()], value=ast.Constant()):
            return True
        case ast.Assign(targets=[ast.Name()], value=ast.Call(func=called)):
            return ast.unparse(called) == "tl.constexpr"
    return False


def _body(body: Body, names: list[str]) -> Body:
    """The graph, and those in it."""
    written: dict[str, list[str]] = {}
    statements: list[ast.stmt] = []
    for statement in body.function.body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=called) as call) if operator_path(called)[
                1:
            ] == ("higher_order", _CALL):
                value, written[name] = _call(call, names)
                statements.append(ast.copy_location(ast.Assign([ast.Name(name, ast.Store())], value), statement))
            case ast.Assign(
                targets=targets, value=ast.Subscript(value=ast.Name(id=of), slice=ast.Constant(value=str(key)))
            ) if key in written.get(of, ()):
                text = f"{of}[{1 + written[of].index(key)}]"
                statements.append(ast.copy_location(ast.Assign(targets, ast.parse(text, mode="eval").body), statement))
            case _:
                statements.append(statement)
    function = ast.copy_location(ast.FunctionDef("forward", body.function.args, statements, []), body.function)
    children = {name: _body(child, names) for name, child in body.children.items()}
    return Body(ast.fix_missing_locations(function), children)


def _call(call: ast.Call, names: list[str]) -> tuple[ast.expr, list[str]]:
    """A call of the operator, as AOTAutograd makes it of one that writes to its arguments, and the names of these."""
    given = {keyword.arg: keyword.value for keyword in call.keywords}
    match given:
        case {
            "kernel_idx": ast.Constant(value=int(index)),
            "kwargs": ast.Dict(keys=keys, values=values),
            "tensors_to_clone": ast.List(elts=cloned),
        } if 0 <= index < len(names):
            arguments = dict(zip(_names(keys), map(ast.unparse, values), strict=True))
            written = [name for name in _names(cloned) if name in arguments]
            is_plain = all(name.isidentifier() and not iskeyword(name) for name in arguments)
            if is_plain and len(written) == len(cloned):
                parts = [f"torch.ops.{SPACE}.{names[index]}.default"]
                parts += [f"{name} = {text}" for name, text in arguments.items() if name not in written]
                parts += [f"_{name}_base_index = {place}" for place, name in enumerate(written)]
                parts.append(f"_all_bases = [{', '.join(arguments[name] for name in written)}]")
                text = f"torch.ops.higher_order.{FUNCTIONAL}({', '.join(parts)})"
                return ast.parse(text, mode="eval").body, written
    raise RefusedError(f"line {call.lineno} of fx_graph_runnable.py calls a Triton kernel in a way that is not known")


def _names(values: Sequence[ast.expr | None]) -> list[str]:
    """The texts among them, and an empty one for what is none."""
    constants = [value.value if isinstance(value, ast.Constant) else None for value in values]
    return [constant if isinstance(constant, str) else "" for constant in constants]

"""Takes of a stranger's fx_graph_runnable.py only what torch itself writes there, so that no text of theirs runs.

A list of what is allowed: literals, the program's own names, torch's operators and dtypes. Everything else is refused
with its line, or left out where the graph does without it (imports, libraries that are loaded, environment variables,
settings that are no plain value). Source: `save_graph_repro` of torch/_dynamo/repro/after_aot.py, torch 2.6 to 2.15.
"""

import ast
import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from inspect_compile.lowering.intervention.replay.runnable import Body, RefusedError, Runnable
from inspect_compile.lowering.intervention.replay.schemas import FUNCTIONAL, SPACES, is_own, operator_path

_IMPORTS: Final = frozenset(
    {
        "import torch", "import torch.fx as fx", "import math", "import operator", "from math import inf",
        "from torch import tensor, device", "from torch._dynamo.testing import rand_strided",
        "import torch._inductor.inductor_prims", "import torch._dynamo.config", "import torch._inductor.config",
        "import torch._functorch.config", "import torch.fx.experimental._config", "from torch.nn import *",
    }
)  # fmt: skip
_LEFT_OUT: Final = frozenset(
    {"torch.ops.load_library", "torch._higher_order_ops.triton_kernel_wrap.kernel_side_table.reset_table"}
)
"""Calls that a graph of torch's own operators does without."""
_NAMES: Final = frozenset(
    {"torch", "device", "tensor", "inf", "nan", "math", "operator", "rand_strided", "slice", "self"}
)
"""Names of the module, besides symbols and what a function itself assigns."""
_SYMBOL: Final = re.compile(r"(?:s|u|ps|zf|zuf)\d{1,9}")
_BUFFER: Final = re.compile(r"buf\d{1,9}")
"""What `load_args` calls storages."""
_OF_TORCH: Final = re.compile(
    r"(?:b?float|int|uint|complex|bool|half|double|long|short|quint|qint|bits)\w{0,20}|bfloat16|strided|jagged|"
    r"sparse_\w{1,20}|contiguous_format|channels_last(?:_3d)?|preserve_format|device|Size|_?sym_\w{1,30}|"
    r"tensor|randn|rand|randint|zeros|ones|empty|full|empty_strided"
)
"""Attributes of torch: types, layouts, functions over sizes, and what makes a constant."""
_OF_MATH: Final = re.compile(r"[a-z]\w{0,20}")
_NOT_OF_OPERATOR: Final = frozenset({"methodcaller", "attrgetter", "itemgetter"})
_NOT_CALLED: Final = frozenset({"from_file", "triton_kernel_wrapper_mutation", "triton_kernel_wrapper_functional"})
"""One reads a file; the others run a kernel of the stranger's."""
_OF_CONSTANT: Final = frozenset({"to", "cuda", "cpu", "view", "reshape", "fill_", "clone", "as_strided"})
"""Methods of a constant that is made in `__init__`."""
_TYPE: Final = re.compile(r"(?:(?!__)[\w\[\](), +*/:-]){0,4000}")
_WORD: Final = re.compile(r"[\w.+-]{0,80}")
_NOT_SET: Final = re.compile(
    r"cxx|dir|path|output|trace|debug|cache|log|thread|lib|root|version|minif|dump|worker|remote|url|command|package|"
    r"autotune_at_compile_time"
)
"""Settings that name files, programs or machines, make torch write more, or run kernels as it compiles them."""


def of_known_shape(recorded: Runnable) -> Runnable:
    """The parts of `recorded` that torch can have written. Raises RefusedError for a line that it cannot."""
    program = [kept for statement in recorded.program.body if (kept := _statement(statement)) is not None]
    _check_body(recorded.body)
    settings = [setting for setting in recorded.settings if _is_plain_setting(setting)]
    return replace(recorded, environment={}, settings=settings, program=ast.Module(program, []))


def _refused(node: ast.AST) -> RefusedError:
    text = ast.unparse(node)
    line = getattr(node, "lineno", 0)
    return RefusedError(f"line {line} of fx_graph_runnable.py is not one that torch writes: {text[:80]}")


def _statement(statement: ast.stmt) -> ast.stmt | None:
    """A statement of the module if it is needed and known; None for one that the graph does without."""
    match statement:
        case ast.Import() | ast.ImportFrom():
            return statement if ast.unparse(statement) in _IMPORTS else None
        case ast.Expr(value=ast.Constant()) | ast.If():
            return None
        case ast.Expr(value=ast.Call(func=called)) if ast.unparse(called) in _LEFT_OUT:
            return None
        case ast.Assign(targets=[ast.Name(id="isolate_fails_code_str")]):
            return None
        case ast.Assign(targets=[ast.Attribute(value=ast.Name(id="load_args"), attr="_version")], value=ast.Constant()):
            return statement
        case ast.ClassDef(name=name) if _is_open(name):
            _check_class(statement)
            return statement
        case ast.FunctionDef(name="load_args", args=arguments) if _takes(arguments, ["reader"]) and _has_plain_head(
            statement
        ):
            statement.body = [line for line in statement.body if not _is_filling(line)]
            for line in statement.body:
                _check_loading(line)
            return statement
    raise _refused(statement)


def _is_filling(line: ast.stmt) -> bool:
    """Whether it gives an input contents that fit those of others (`repeat_interleave`): inputs have none here."""
    return isinstance(line, ast.If) and ast.unparse(line.test) == "hasattr(reader, 'args')"


def _takes(arguments: ast.arguments, names: list[str]) -> bool:
    others = (arguments.posonlyargs, arguments.kwonlyargs, arguments.defaults, arguments.kw_defaults)
    is_bare = not any(others) and arguments.vararg is None and arguments.kwarg is None
    return (
        is_bare
        and [argument.arg for argument in arguments.args] == names
        and not any(argument.annotation for argument in arguments.args)
    )


def _has_plain_head(function: ast.FunctionDef) -> bool:
    """Whether nothing in the head of the function is computed when it is defined."""
    annotations = [argument.annotation for argument in function.args.args] + [function.returns]
    is_plain = all(annotation is None or _is_type(annotation) for annotation in annotations)
    return is_plain and not getattr(function, "type_params", None) and not function.decorator_list


def _is_type(annotation: ast.expr) -> bool:
    """Whether it is what `print_readable` writes of a value, `"f32[8, s27][s27, 1]cuda:0"`: its sizes are computed."""
    if not isinstance(annotation, ast.Constant):
        return False
    text = annotation.value
    return text is None or (isinstance(text, str) and _TYPE.fullmatch(text) is not None and "**" not in text)


def _check_class(owner: ast.ClassDef) -> None:
    is_plain = not owner.keywords and not owner.decorator_list and not getattr(owner, "type_params", None)
    if not is_plain or any(ast.unparse(base) not in ("torch.nn.Module", "Module") for base in owner.bases):
        raise _refused(owner)
    for member in owner.body:
        match member:
            case ast.FunctionDef(name="__init__", args=arguments) if _takes(arguments, ["self"]) and _has_plain_head(
                member
            ):
                for line in member.body:
                    _check_init(line)
            case ast.FunctionDef(name="forward"):
                _check_forward(member)
            case ast.Expr(value=ast.Constant()) | ast.Pass():
                continue
            case ast.AnnAssign(target=ast.Name(), annotation=ast.Name(id="device"), value=None):
                continue
            case ast.ClassDef():
                _check_class(member)
            case _:
                raise _refused(member)


def _check_init(line: ast.stmt) -> None:
    match line:
        case ast.Expr(value=ast.Call(func=called, args=[], keywords=[])) if ast.unparse(called) == "super().__init__":
            return
        case ast.Expr(
            value=ast.Call(
                func=ast.Attribute(value=ast.Name(id="self"), attr="register_buffer" | "register_parameter"),
                args=[ast.Constant(value=str()), value, *rest],
                keywords=keywords,
            )
        ):
            for part in (value, *rest, *(keyword.value for keyword in keywords)):
                _check(part, frozenset(), is_constant=True)
            return
        case ast.Assign(targets=[ast.Attribute(value=ast.Name(id="self"), attr=name)], value=value) if _is_open(name):
            match value:
                case ast.Call(func=ast.Name(id=kind), args=[], keywords=[]) if _is_open(kind) and kind[:1].isupper():
                    return  # a nested graph, of a class of the file
            _check(value, frozenset(), is_constant=True)
            return
        case ast.Pass() | ast.Expr(value=ast.Constant()):
            return
    raise _refused(line)


def _check_loading(line: ast.stmt) -> None:
    match line:
        case ast.Assign(targets=[ast.Name()], value=ast.Call() as call) | ast.Expr(value=ast.Call() as call):
            match call.func:
                case ast.Attribute(value=ast.Name(id="reader"), attr=name) if _is_open(name):
                    for part in (*call.args, *(keyword.value for keyword in call.keywords)):
                        _check(part, {name for name in _names(part) if _BUFFER.fullmatch(name)})
                    return
        case ast.Pass() | ast.Expr(value=ast.Constant()):
            return
    raise _refused(line)


def _check_body(body: Body) -> None:
    """The graph, and those nested in it, some of which are read from fx_graph_readable.py."""
    _check_forward(body.function)
    for child in body.children.values():
        _check_body(child)


def _check_forward(function: ast.FunctionDef) -> None:
    arguments = function.args
    others = (arguments.posonlyargs, arguments.kwonlyargs, arguments.vararg, arguments.kwarg, arguments.defaults)
    if any(others) or not _has_plain_head(function):
        raise _refused(function)
    known = {argument.arg for argument in arguments.args}
    for statement in function.body:
        match statement:
            case ast.Assign(targets=targets, value=value) if all(isinstance(target, ast.Name) for target in targets):
                _check_node(value, known)
                known |= {target.id for target in targets if isinstance(target, ast.Name)}
            case ast.AnnAssign(target=ast.Name(id=name), annotation=annotation, value=ast.expr() as value) if _is_type(
                annotation
            ):
                _check_node(value, known)
                known.add(name)
            case ast.Return(value=value):
                if value is not None:
                    _check(value, known)
            case ast.Pass() | ast.Expr(value=ast.Constant()):
                continue
            case ast.ClassDef():
                _check_class(statement)
            case _:
                raise _refused(statement)


def _check_node(value: ast.expr, known: Iterable[str]) -> None:
    """A node of the graph: it may call an operator, which is traced and not run, with values that call none."""
    match value:
        case ast.Call(func=ast.Attribute() as called, args=arguments, keywords=keywords) if _is_operator(_path(called)):
            path = operator_path(called)
            if path[1:] == ("higher_order", FUNCTIONAL) and arguments and _is_operator(_path(arguments[0])):
                arguments = arguments[1:]
            for part in (*arguments, *(keyword.value for keyword in keywords)):
                _check(part, known)
        case _:
            _check(value, known)


def _check(value: ast.expr, known: Iterable[str], *, is_constant: bool = False) -> None:
    """Raises RefusedError unless the expression can do no more than name values and call torch's operators."""
    names = frozenset(known)

    def check(node: ast.expr) -> None:
        match node:
            case ast.Constant():
                return
            case ast.Name(id=name) if name in names or name in _NAMES or _SYMBOL.fullmatch(name):
                return
            case ast.BinOp(left=left, op=op, right=right) if _is_small(op, left, right):
                check_parts(left, right)
            case (
                ast.Tuple() | ast.List() | ast.Set() | ast.Dict() | ast.UnaryOp() | ast.BoolOp() | ast.Compare()
                | ast.IfExp() | ast.Subscript() | ast.Slice()
            ):  # fmt: skip
                check_parts(*(part for part in ast.iter_child_nodes(node) if isinstance(part, ast.expr)))
            case ast.Attribute() if _is_allowed(_path(node)):
                return
            case ast.Call(func=ast.Attribute() as called) if _path(called)[:2] == ("torch", "ops"):
                raise RefusedError(f"the graph calls {ast.unparse(called)}, which is not one of torch's operators")
            case ast.Call(func=called, args=arguments, keywords=keywords):
                match called:
                    case ast.Name(
                        id="device" | "tensor" | "slice" | "rand_strided" | "Max" | "Min" | "Mod" | "FloorDiv"
                    ):
                        pass
                    case ast.Attribute(value=ast.Call() as inner, attr=method) if (
                        is_constant and method in _OF_CONSTANT
                    ):
                        check(inner)
                    case ast.Attribute() if (path := _path(called))[:1] != ("self",) and _is_allowed(path):
                        pass
                    case _:
                        raise _refused(node)
                check_parts(*arguments, *(keyword.value for keyword in keywords))
            case _:
                raise _refused(node)

    def check_parts(*parts: ast.expr) -> None:
        for part in parts:
            check(part)

    check(value)


def _path(node: ast.expr) -> tuple[str, ...]:
    """The names of `torch.ops.aten.add.Tensor`; empty for what is no plain chain of names."""
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    return (*reversed([*names, node.id]),) if isinstance(node, ast.Name) else ()


def _is_allowed(path: tuple[str, ...]) -> bool:
    if not all(map(_is_open, path)):
        return False
    match path:
        case ("self", _):
            return True
        case ("torch", name):
            return _OF_TORCH.fullmatch(name) is not None
        case ("math", name):
            return _OF_MATH.fullmatch(name) is not None
        case ("operator", name):
            return name not in _NOT_OF_OPERATOR
    return False


def _is_operator(path: tuple[str, ...]) -> bool:
    match path:
        case ("torch", "ops", space, name, *rest):
            is_known = space in SPACES and name not in _NOT_CALLED and len(rest) <= 1
            return (is_known or is_own(path[1:])) and all(map(_is_open, path))
    return False


def _is_small(op: ast.operator, left: ast.expr, right: ast.expr) -> bool:
    """Whether the result of constants stays a number of ordinary size."""
    if isinstance(op, ast.Pow):
        return isinstance(right, ast.Constant) and isinstance(right.value, (int, float)) and abs(right.value) <= 64
    is_shift = isinstance(op, (ast.LShift, ast.RShift))
    is_list = any(isinstance(side, (ast.List, ast.Tuple)) for side in (left, right))
    return (
        not is_shift
        and not is_list
        and not any(isinstance(side, ast.Constant) and isinstance(side.value, (str, bytes)) for side in (left, right))
    )


def _is_open(name: str) -> bool:
    return not name.startswith("__")


def _names(node: ast.AST) -> Iterable[str]:
    return (inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name))


def _is_plain_setting(statement: ast.stmt) -> bool:
    """Whether it sets a number, a truth value or a word, in a setting that names no file, program or machine."""
    match statement:
        case ast.Assign(targets=[ast.Attribute() as target], value=ast.Constant(value=value)):
            path = _path(target)
            is_config = path[:1] == ("torch",) and "config" in path[:-1] and all(map(_is_open, path))
            is_word = value is None or isinstance(value, (bool, int, float))
            is_word = is_word or (isinstance(value, str) and _WORD.fullmatch(value) is not None)
            return is_config and is_word and _NOT_SET.search(".".join(path[path.index("config") + 1 :])) is None
    return False

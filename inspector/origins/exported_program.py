"""The graph of an exported program (`torch.export.save`), which is JSON: nodes, tensors, symbols, weights by name."""

import ast
import functools
import re
import warnings
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

import msgspec

from inspect_compile.facts import Fact, Graph, Location, Symbol, Tensor
from inspect_compile.origins.dtypes import ITEM_BYTES, LARGEST, product
from inspect_compile.origins.fx_text import ReadNode, numbered

_DTYPES: Final = {
    1: "uint8", 2: "int8", 3: "int16", 4: "int32", 5: "int64", 6: "float16", 7: "float32", 8: "float64",
    9: "complex32", 10: "complex64", 11: "complex128", 12: "bool", 13: "bfloat16", 28: "uint16",
    29: "float8_e4m3fn", 30: "float8_e5m2", 31: "float8_e4m3fnuz", 32: "float8_e5m2fnuz", 33: "float8_e8m0fnu",
    34: "uint32", 35: "uint64",
}  # fmt: skip
"""Number of a type in `torch._export.serde.schema.ScalarType` → torch's name."""
_FORMATS: Final = {1: "contiguous_format", 2: "channels_last", 3: "channels_last_3d", 4: "preserve_format"}
_LAYOUTS: Final = {1: "sparse_coo", 2: "sparse_csr", 3: "sparse_csc", 7: "strided"}
_DEEPEST: Final = 16
"""Maximum depth of graphs in graphs, and of lists in arguments."""
_MOST_NODES: Final = 1_000_000
_LONGEST: Final = 1000
"""Maximum characters of a name, an argument, an expression."""
_FRAME: Final = re.compile(r'File "([^"\n]{1,4096})", line (\d{1,9}), in ([^\n]{1,1000})\n?([^\n]{0,1000})')
_IN_TORCH: Final = re.compile(r"/(?:site|dist)-packages/torch/")
_OPERATORS: Final = {"Add": " + ", "Mul": "*", "Pow": "**", "FloorDiv": "//", "CleanDiv": "//", "Mod": " % "}


class ReadProgram(NamedTuple):
    """What an exported program tells."""

    facts: list[Fact]
    device: str
    versions: dict[str, str]
    weights: list[str]
    """`a.weight  float32[128, 64]  32,768 bytes`: each parameter, buffer and constant."""
    note: str
    """What could not be read, in a sentence; else empty."""


def read_program(graph: str, data: bytes) -> ReadProgram:
    """The graph in `data`, the text of a `models/*.json`."""
    try:
        found = msgspec.json.decode(data)
    except (ValueError, RecursionError) as error:  # also of bytes that are no UTF-8
        return ReadProgram([], "", {}, [], f"the graph of {graph} is not read: {error or 'it is nested too deeply'}")
    module = _dict(found, "graph_module")
    if not _dict(module, "graph"):
        return ReadProgram([], "", {}, [], f"the graph of {graph} is not read: it is not a graph of torch.export")
    reader = _Reader()
    facts = list(reader.graph(graph, _dict(module, "graph"), _dict(module, "signature"), "", 0))
    facts += reader.symbols(graph, _dict(found, "range_constraints"))
    version = found.get("torch_version")
    versions = {"torch": version[:100]} if isinstance(version, str) and version else {}
    note = f"{reader.skipped:,} nodes of {graph} are not nodes of torch.export" if reader.skipped else ""
    return ReadProgram(facts, ", ".join(sorted(filter(None, reader.devices))), versions, reader.weights, note)


def _dict(found: object, name: str) -> dict[str, Any]:
    inner = found.get(name) if isinstance(found, dict) else None
    return inner if isinstance(inner, dict) else {}


def _list(found: object, name: str) -> list[Any]:
    inner = found.get(name) if isinstance(found, dict) else None
    return inner if isinstance(inner, list) else []


def _text(found: object, name: str, longest: int = _LONGEST) -> str:
    inner = found.get(name) if isinstance(found, dict) else None
    return inner[:longest] if isinstance(inner, str) else ""


class _Reader:
    """Reads the graphs of one program."""

    def __init__(self) -> None:
        self.devices: dict[str, None] = {}
        self.hints: dict[str, int] = {}
        self.sources: dict[str, str] = {}
        """Symbol → the first size of an input that it is."""
        self.weights: list[str] = []
        self.skipped = 0
        """How many nodes were none."""
        self._count = 0

    def graph(
        self, name: str, found: dict[str, Any], signature: dict[str, Any], parent: str, depth: int
    ) -> Iterator[Fact]:
        """The nodes of a graph, those of the graphs in it first."""
        tensors = {key: self._tensor(value) for key, value in _dict(found, "tensor_values").items()}
        targets = _targets(signature)
        rows = [
            ReadNode(one, "placeholder", targets.get(one, one), {}, "", _value(one, tensors)) for one in _named(found)
        ]
        self.weights += [f"{targets[row.name]}  {_weight_text(row.values)}" for row in rows if row.name in targets]
        for row in rows if not parent else ():
            for place, length in enumerate(row.values[0].size if row.values else ()):
                if isinstance(length, str):
                    self.sources.setdefault(length, f"{row.name}.size()[{place}]")
        known = dict.fromkeys(row.name for row in rows)
        nested: list[tuple[str, dict[str, Any]]] = []
        for node in _list(found, "nodes"):
            self._count += 1
            target = _text(node, "target")
            if not target or self._count > _MOST_NODES:
                self.skipped += 1
                continue
            nested += _graphs_in(node)
            for row in self._rows(node, target, tensors, known):
                rows.append(row)
                known[row.name] = None
        inputs: dict[str, None] = {}
        returned = [_argument(one, known, inputs, 0) for one in _list(found, "outputs")]
        text = f"({', '.join(returned)}{',' * (len(returned) == 1)})"
        values = tuple(value for name in inputs for value in _value(name, tensors))
        rows.append(ReadNode("output", "output", "output", inputs, text[:_LONGEST], values))
        for own, inner in nested if depth < _DEEPEST else ():
            yield from self.graph(f"{name}/{own}", inner, {}, name, depth + 1)
        yield Graph(
            graph=name,
            kind="subgraph" if parent else "inference",
            name=name.rpartition("/")[2],
            parent=parent or None,
            inputs=sum(row.op == "placeholder" for row in rows),
            device=", ".join(sorted(filter(None, self.devices))),
        )
        yield from numbered(name, "aot", rows)

    def symbols(self, graph: str, ranges: dict[str, Any]) -> Iterator[Symbol]:
        """The symbols of the sizes, with the value in the example and the range."""
        for name in dict.fromkeys((*filter(str.isidentifier, self.hints), *ranges)):
            bounds = [_dict(ranges, name).get(end) for end in ("min_val", "max_val")]
            lower, upper = (str(bound) if type(bound) is int else "" for bound in bounds)
            hint = self.hints.get(name)
            yield Symbol(
                graph=graph,
                name=name[:_LONGEST],
                hint="" if hint is None else str(hint),
                source=self.sources.get(name, ""),
                lower=lower or "-int_oo",
                upper=upper or "int_oo",
            )

    def _rows(
        self, node: dict[str, Any], target: str, tensors: Mapping[str, Tensor], known: dict[str, None]
    ) -> Iterator[ReadNode]:
        """A node, and one for each tensor that it takes out of several."""
        inputs: dict[str, None] = {}
        given = [
            (_text(one, "name"), _argument(one.get("arg"), known, inputs, 0), one.get("kind") == 2)
            for one in _list(node, "inputs")
            if isinstance(one, dict)
        ]
        text = ", ".join(f"{name}={argument}" if is_keyword else argument for name, argument, is_keyword in given)
        outputs = [name for one in _list(node, "outputs") for name in _names(one)]
        is_list = (
            any(isinstance(one, dict) and "as_tensor" not in one for one in _list(node, "outputs")) or len(outputs) > 1
        )
        name = _text(node, "name") or (f"{outputs[0]}_all" if is_list and outputs else outputs[0] if outputs else "")
        metadata = _dict(node, "metadata")
        where, (module, kind) = (
            user_line(_text(metadata, "stack_trace", 100_000)),
            _module(_text(metadata, "nn_module_stack", 10_000)),
        )
        values = tuple(value for one in outputs for value in _value(one, tensors))
        target = target.removeprefix("torch.ops.").removeprefix("higher_order.").removeprefix("_operator.")
        yield ReadNode(name, "call_function", target, inputs, text[:_LONGEST], values, where, module, kind)
        for index, one in enumerate(outputs if name not in outputs else ()):
            taken = f"%{name}, {index}"
            yield ReadNode(
                one, "call_function", "operator.getitem", {name: None}, taken, _value(one, tensors), where, module, kind
            )

    def _tensor(self, found: object) -> Tensor:
        dtype = found.get("dtype") if isinstance(found, dict) else None
        name = _DTYPES.get(dtype, "") if type(dtype) is int else ""
        size, stride = (tuple(self._length(one) for one in _list(found, key)[:64]) for key in ("sizes", "strides"))
        device = _dict(found, "device")
        index = device.get("index")
        where = _text(device, "type", 20) + (f":{index}" if type(index) is int and 0 <= index < 1000 else "")
        self.devices[where] = None
        numbers = [one if isinstance(one, int) else self.hints.get(one) for one in size]
        return Tensor(name, size, stride, where, product([ITEM_BYTES.get(name), *numbers]))

    def _length(self, found: object) -> int | str:
        """One length; a symbol's value in the example is kept."""
        number = found.get("as_int") if isinstance(found, dict) else None
        if type(number) is int:
            return number if abs(number) < LARGEST else str(number)[:40]
        expression = _dict(found, "as_expr")
        text = expression_text(_text(expression, "expr_str"))
        hint = _dict(expression, "hint").get("as_int")
        if type(hint) is int and abs(hint) < LARGEST:
            self.hints.setdefault(text, hint)
        return text


@functools.lru_cache(maxsize=4096)
def expression_text(text: str) -> str:
    """`2*s77` of sympy's `Mul(Integer(2), Symbol('s77', integer=True))`; the text itself where it is none."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = _expression(ast.parse(text, mode="eval").body)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return text
    return found or text


def _expression(node: ast.expr) -> str:
    match node:
        case ast.Call(func=ast.Name(id="Symbol"), args=[ast.Constant(value=str(name)), *_]):
            return name
        case ast.Call(func=ast.Name(id="Integer"), args=[ast.Constant(value=int(number))]):
            return str(number) if abs(number) < LARGEST else ""
        case ast.Call(
            func=ast.Name(id="Integer"), args=[ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(number)))]
        ):
            return f"-{number}" if abs(number) < LARGEST else ""
        case ast.Call(func=ast.Name(id=name), args=args) if name in _OPERATORS and len(args) > 1:
            parts = [_expression(one) for one in args]
            inner = [f"({one})" if " " in one and name != "Add" else one for one in parts]
            return _OPERATORS[name].join(inner) if all(parts) else ""
        case ast.Call(func=ast.Name(id=name), args=args):
            parts = [_expression(one) for one in args]
            return f"{name}({', '.join(parts)})" if all(parts) else ""
    return ""


def _targets(signature: dict[str, Any]) -> dict[str, str]:
    """Placeholder → the program's name of the parameter, buffer or constant that it is."""
    found: dict[str, str] = {}
    for spec in _list(signature, "input_specs"):
        for kind, name in (
            ("parameter", "parameter_name"), ("buffer", "buffer_name"), ("tensor_constant", "tensor_constant_name"),
        ):  # fmt: skip
            inner = _dict(spec, kind)
            if own := _text(inner, name):
                found[_text(_dict(inner, "arg"), "name")] = own
    return found


def _weight_text(values: tuple[Tensor, ...]) -> str:
    if not values:
        return "not known"
    size = "not known" if values[0].bytes is None else f"{values[0].bytes:,}"
    return f"{values[0].dtype}[{', '.join(map(str, values[0].size))}]  {size} bytes"


def _value(name: str, tensors: Mapping[str, Tensor]) -> tuple[Tensor, ...]:
    return (tensors[name],) if name in tensors else ()


def _named(found: dict[str, Any]) -> Iterator[str]:
    """The placeholders of a graph."""
    for number, one in enumerate(_list(found, "inputs")):
        yield next(_names(one), f"input_{number}")


def _names(argument: object) -> Iterator[str]:
    """The values that an argument names, which can be a list of them."""
    for inner in argument.values() if isinstance(argument, dict) else ():
        for one in inner if isinstance(inner, list) else (inner,):
            if name := _text(one, "name") or _text(one, "as_name"):
                yield name
            elif tensor := _text(_dict(one, "as_tensor"), "name"):
                yield tensor


def _graphs_in(node: object) -> Iterator[tuple[str, dict[str, Any]]]:
    for one in _list(node, "inputs"):
        found = _dict(_dict(one, "arg"), "as_graph")
        if inner := _dict(found, "graph"):
            yield _text(found, "name", 100).replace("/", "_") or "graph", inner


def _argument(found: object, known: Mapping[str, None], inputs: dict[str, None], depth: int) -> str:
    """One argument as text, nodes as `%name`; the nodes in it are added to `inputs`."""
    if not isinstance(found, dict) or not found or depth > _DEEPEST:
        return "?"
    kind, value = next(iter(found.items()))
    match kind:
        case "as_none":
            return "None"
        case "as_scalar_type" | "as_memory_format" | "as_layout":
            names = {"as_scalar_type": _DTYPES, "as_memory_format": _FORMATS, "as_layout": _LAYOUTS}[kind]
            return f"torch.{names[value]}" if type(value) is int and value in names else "?"
        case "as_device":
            return _text(value, "type", 20)
        case "as_graph":
            return _text(value, "name", 100)
        case "as_string":
            return repr(value)[:_LONGEST]
        case "as_expr":
            return expression_text(_text(value, "expr_str"))
    if isinstance(value, list):
        texts = [_element(one, known, inputs, depth + 1) for one in value[:_LONGEST]]
        return f"[{', '.join(texts)}]"
    return _element(value, known, inputs, depth + 1)


def _element(found: object, known: Mapping[str, None], inputs: dict[str, None], depth: int) -> str:
    """A tensor, a number, or one of a list of them."""
    if isinstance(found, dict):
        name = _text(found, "name") or _text(found, "as_name")
        if name:
            inputs.update(((name, None),) if name in known else ())
            return f"%{name}" if name in known else name
        return _argument(found, known, inputs, depth)
    if isinstance(found, list):
        return f"[{', '.join(_element(one, known, inputs, depth + 1) for one in found)}]" if depth < _DEEPEST else "?"
    return repr(found)[:_LONGEST] if isinstance(found, (str, bool, float, int)) and not _is_huge(found) else "?"


def _is_huge(found: object) -> bool:
    return type(found) is int and abs(found) >= LARGEST


def user_line(trace: str) -> Location | None:
    """The innermost line of the traceback that is not torch's own."""
    frames = [found for found in _FRAME.finditer(trace) if not _IN_TORCH.search(found[1])]
    if not frames:
        return None
    file, line, function, code = frames[-1].groups()
    return Location(file, int(line), function, code.strip())


def _module(stack: str) -> tuple[str, str]:
    """Path and class of the innermost nn.Module of `L__self__,,Net;L__self__a,a,torch.nn.modules.linear.Linear`."""
    _, path, kind = (*stack.rpartition(";")[2].split(","), "", "", "")[:3]
    return path, kind.rpartition(".")[2] if path else ""

"""The scheduler's nodes as torch prints them, `ir_pre_fusion.txt` and `ir_post_fusion.txt`.

Bytes are those of torch where a layout in the text, or a tensor that is known from elsewhere, has them. The text does
not say which FX nodes an operation is of.
"""

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import Final

from msgspec.structs import replace

from inspect_compile.facts import Access, Operation, Tensor
from inspect_compile.knowledge.kernels.parameters import split_arguments
from inspect_compile.origins.dtypes import ITEM_BYTES, product, storage_bytes
from inspect_compile.origins.python_text import number

MOST_LINES: Final = 2_000_000
"""Further lines of a text are left out."""
_LONGEST_VALUE: Final = 1 << 20
"""Maximum characters of one attribute of a node."""
_DEEPEST: Final = 8
"""Maximum depth of nodes in nodes."""
_LONGEST_SIZE: Final = 2_000
_MOST_CHANGES: Final = 1000
"""Maximum length of a chain of mutations that is followed to the buffer."""

_BETWEEN: Final = "\n\n\n"
_NODE: Final = re.compile(r"(\w+): (\w+)\(([\w,]*)\)$")
_BUFFER: Final = re.compile(r"(\w+): (\w+)$")
_LAYOUT: Final = re.compile(r"(\w+)_layout = (.*)$")
_USER: Final = re.compile(r"NodeUser\(node=(?:(OUTPUT)|\w+\(name='(\w+)'\))")
_QUOTED: Final = re.compile(r"'(\w+)'")
_DEVICE: Final = re.compile(r"device\(type='(\w+)'(?:, index=(\d+))?\)")
_FACTORS: Final = re.compile(r"[\w*]+")
_WORD: Final = re.compile(r"[A-Za-z_]\w*")
_OF_VALUES: Final = ("tmp", "indirect")
"""What the name of a loaded value in an index begins with."""
_KINDS: Final = {"MemoryDep": "memory", "StarDep": "star", "WeakDep": "weak"}
_BODIES: Final = (
    ("'online_softmax_reduce'", "MultiOutputReduction"), ("'welford_", "WelfordReduction"), ("ops.scan(", "Scan"),
    ("ops.sort(", "Sort"), ("ops.reduction(", "Reduction"), ("ops.store_reduction(", "Reduction"),
    ("'atomic_add')", "Scatter"),
)  # fmt: skip
"""What a loop body holds → torch's class of what it computes; the first line with one counts."""
_POINTWISE: Final = "Pointwise"


@dataclass
class _Buffer:
    """One buffer that a node writes."""

    name: str
    layout: str = ""
    mutations: tuple[str, ...] = ()
    users: list[str] = field(default_factory=list)
    is_open: bool = False
    """Whether the list of its users is being read."""


@dataclass
class _Node:
    """One scheduler node, as it is printed."""

    name: str
    node_type: str
    classes: tuple[str, ...]
    """Its IR class, or the classes of the nodes in it."""
    lines: dict[str, list[str]] = field(default_factory=dict)
    """Attribute → the lines of its value."""
    buffers: list[_Buffer] = field(default_factory=list)
    members: "list[_Node]" = field(default_factory=list)
    body: str = ""
    """What its loop computes: Pointwise, Reduction and so on; empty without a loop."""

    def value(self, attribute: str) -> str:
        """The value of an attribute, on one line; empty if it has none, or one that is too long."""
        lines = self.lines.get(attribute, [])
        return " ".join(lines) if sum(map(len, lines)) < _LONGEST_VALUE else ""

    def leaves(self, deepest: int = _DEEPEST) -> "Iterator[_Node]":
        """The single operations in it, in order."""
        if not self.members or not deepest:
            yield self
        for member in self.members if deepest else ():
            yield from member.leaves(deepest - 1)


@dataclass
class _Sizes:
    """Bytes of buffers."""

    tensors: dict[str, tuple[int | None, int | None]] = field(default_factory=dict)
    """Buffer → bytes of an element, and number of elements."""
    changed: dict[str, str] = field(default_factory=dict)
    """Buffer that only marks a mutation → the buffer that is changed."""
    devices: dict[str, str] = field(default_factory=dict)
    symbols: Mapping[str, int] = field(default_factory=dict)

    def of(self, buffer: str) -> tuple[int | None, int | None]:
        """Bytes of an element, and number of elements."""
        for _ in range(_MOST_CHANGES):
            if buffer not in self.changed:
                break
            buffer = self.changed[buffer]
        return self.tensors.get(buffer, (None, None))


def operations_of(
    graph: str,
    phase: str,
    text: str,
    inputs: Mapping[str, Tensor] | None = None,
    symbols: Mapping[str, int] | None = None,
) -> list[Operation]:
    """The scheduler nodes in the text of one phase, in order.

    `inputs`: tensors of the graph's inputs, by name; `symbols`: symbol → its value in the example.
    """
    nodes, layouts = _nodes(text)
    sizes = _sizes(nodes, layouts, inputs or {}, symbols or {})
    leaves = [leaf for node in nodes for leaf in node.leaves()]
    makers = {buffer.name: leaf.name for leaf in leaves for buffer in leaf.buffers}
    return [_operation(graph, phase, order, node, sizes, makers) for order, node in enumerate(nodes)]


def buffer_bytes(text: str, symbols: Mapping[str, int] | None = None) -> dict[str, int]:
    """Bytes of the memory of each buffer that has a layout in the text."""
    nodes, layouts = _nodes(text)
    found: dict[str, int] = {}
    for name, layout in (*layouts.items(), *((one.name, one.layout) for node in nodes for one in node.buffers)):
        size = _storage(layout, symbols or {})
        if size is not None:
            found[name] = size
    return found


def _nodes(text: str) -> tuple[list[_Node], dict[str, str]]:
    found: list[_Node] = []
    layouts: dict[str, str] = {}
    left = MOST_LINES
    for block in text.split(_BETWEEN):
        lines = block.strip("\n").split("\n")[:left]
        left -= len(lines)
        node = _node(lines, layouts)
        if node is not None:
            found.append(node)
    return found, layouts


def _node(lines: list[str], layouts: dict[str, str]) -> _Node | None:
    """The node that the lines print, with those in it."""
    stack: list[_Node] = []
    root: _Node | None = None
    key, is_member = "", True
    for line in lines:
        plain = line.strip()
        head = _NODE.match(plain) if is_member else None
        is_member = False
        if head is not None:
            node = _Node(head[1], head[2], tuple(head[3].split(",")))
            if root is None:
                root = node
            elif len(stack) > _DEEPEST:
                continue
            else:
                stack[-1].members.append(node)
            stack.append(node)
            key = ""
        elif root is None:
            return None
        else:
            key, is_member = _read(stack, plain, key, layouts)
    return root


def _read(stack: list[_Node], line: str, key: str, layouts: dict[str, str]) -> tuple[str, bool]:
    """Read a line of the innermost node, or of one around it; `key`: the attribute that may go on.

    Returns the attribute that may go on after it, and whether the next line begins another node.
    """
    owner, dot, rest = line.partition(".")
    while dot and len(stack) > 1 and owner != stack[-1].name and any(owner == node.name for node in stack):
        stack.pop()
    node = stack[-1]
    if dot and owner == node.name:
        name, _, value = rest.partition(" = ")
        if rest.startswith("snodes["):
            return "", True
        node.lines[name.strip(" =")] = [value]
        return name.strip(" ="), False
    if key == "outputs":
        is_end = line == "]" and not (node.buffers and node.buffers[-1].is_open)
        _buffer(node, line)
        return ("" if is_end else key), False
    if line.startswith("class "):
        return "body", False
    if key == "body":
        if node.body in ("", _POINTWISE):
            node.body = next((kind for mark, kind in _BODIES if mark in line), _POINTWISE)
        return key, False
    if (layout := _LAYOUT.match(line)) is not None:
        layouts[layout[1]] = layout[2]
        return "", False
    if key:
        node.lines.setdefault(key, []).append(line)
    return key, False


def _buffer(node: _Node, line: str) -> None:
    head = _BUFFER.match(line)
    if head is not None:
        node.buffers.append(_Buffer(head[1]))
        return
    if not node.buffers:
        return
    buffer = node.buffers[-1]
    name, _, value = line.partition(" = ")
    match name.removeprefix(f"{buffer.name}."):
        case "layout":
            buffer.layout = value
        case "mutations":
            buffer.mutations = tuple(_QUOTED.findall(value))
        case "users":
            buffer.users, buffer.is_open = [value], value == "["
        case _ if buffer.is_open:
            buffer.users.append(line)
            buffer.is_open = line != "]"


def _sizes(
    nodes: list[_Node], layouts: Mapping[str, str], inputs: Mapping[str, Tensor], symbols: Mapping[str, int]
) -> _Sizes:
    found = _Sizes(symbols=symbols)
    for name, tensor in inputs.items():
        lengths = [_value(str(length), symbols) for length in tensor.size]
        found.tensors[name] = ITEM_BYTES.get(tensor.dtype), product(lengths)
    for name, layout in layouts.items():
        found.tensors[name] = _extent(layout, symbols)
    for buffer in (one for node in nodes for one in node.buffers):
        found.devices[buffer.name] = _device(buffer.layout)
        item, count = _extent(buffer.layout, symbols)
        if item is not None:
            found.tensors[buffer.name] = item, count
        elif len(buffer.mutations) == 1:
            found.changed[buffer.name] = buffer.mutations[0]
        else:
            found.tensors[buffer.name] = None, 0  # a tuple of tensors, or nothing
    return found


def _arguments(call: str) -> list[str]:
    """`f(a, b)` → its arguments."""
    return split_arguments(call.partition("(")[2].rpartition(")")[0])


def _tensor(layout: str) -> tuple[str, list[str], list[str]]:
    """Type, size and stride of a layout; nothing for one without a type."""
    arguments = _arguments(layout) if len(layout) < _LONGEST_VALUE else []
    words = dict(each.split("=", 1) for each in arguments[2:] if "=" in each)
    dtype = arguments[1] if len(arguments) > 1 else ""
    if not dtype.startswith("torch."):
        return "", [], []
    size, stride = (split_arguments(words.get(name, "[]")[1:-1]) for name in ("size", "stride"))
    return dtype.removeprefix("torch."), size, stride


def _extent(layout: str, symbols: Mapping[str, int]) -> tuple[int | None, int | None]:
    dtype, size, _ = _tensor(layout)
    return ITEM_BYTES.get(dtype), product([_value(length, symbols) for length in size])


def _storage(layout: str, symbols: Mapping[str, int]) -> int | None:
    dtype, size, stride = _tensor(layout)
    pairs = [(_value(length, symbols), _value(step, symbols)) for length, step in zip(size, stride, strict=False)]
    known = [(length, step) for length, step in pairs if length is not None and step is not None]
    if len(known) < len(size):
        return None
    return storage_bytes(dtype, [length for length, _ in known], [step for _, step in known])


def _device(layout: str) -> str:
    if (found := _DEVICE.search(layout[:_LONGEST_SIZE])) is not None:
        return found[1] if found[2] is None else f"{found[1]}:{found[2]}"
    first = layout.partition("(")[2].partition(",")[0]
    return first.strip("'") if first.startswith("'") else ""


def _value(text: str, symbols: Mapping[str, int]) -> int | None:
    if text.isascii() and text.isdecimal() and len(text) < 19:
        return int(text)
    if not symbols or len(text) > _LONGEST_SIZE:
        return None
    try:
        return number(ast.parse(text, mode="eval").body, symbols)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _operation(graph: str, phase: str, order: int, node: _Node, sizes: _Sizes, makers: Mapping[str, str]) -> Operation:
    unmet, met, writes = (
        [_access(each, sizes) for each in _dependencies(node.value(name))]
        for name in ("unmet_dependencies", "met_dependencies", "writes")
    )
    into = {buffer.name: changed for buffer in node.buffers for changed in buffer.mutations}
    own = {leaf.name for leaf in node.leaves()}
    numel, rnumel = _numels(node.value("sizes"))
    kernel = node.value("node.kernel") or None
    before = {makers[read.buffer] for read in unmet if read.buffer in makers}
    return Operation(
        graph=graph,
        phase=phase,
        order=order,
        name=node.name,
        kind=_kind(node),
        node_type=node.node_type,
        ir_type=_ir_type(node),
        device=node.value("group.device") or next(filter(None, map(sizes.devices.get, _names(node))), ""),
        members=tuple(leaf.name for leaf in node.leaves()),
        buffers=_names(node),
        numel=numel,
        rnumel=rnumel,
        reads=tuple(sorted((*unmet, *met), key=_order)),
        writes=tuple(replace(write, into=into.get(write.buffer)) for write in sorted(writes, key=_order)),
        users=tuple(dict.fromkeys(name for name in _users(node) if name not in own)),
        predecessors=tuple(sorted(before - own, key=_number)),
        extern_kernel=node.classes[0] if kernel == "None" else kernel,
    )


def _names(node: _Node) -> tuple[str, ...]:
    return tuple(buffer.name for buffer in node.buffers)


def _kind(node: _Node) -> str:
    kind = node.node_type
    if "Foreach" in kind:
        return "foreach"
    if "Fused" in kind or "MixOrder" in kind:
        return "fused"
    for word in ("Grouped", "Nop", "Extern"):
        if kind.startswith(word):
            return word.lower()
    if "Template" in node.classes[0]:
        return "template"
    if kind != "SchedulerNode":
        return "fused" if node.members else "other"
    return "pointwise" if node.body in ("", _POINTWISE, "Scatter") else "reduction"


def _ir_type(node: _Node) -> str:
    if node.members:
        return ""
    return f"{node.classes[0]}({node.body})" if node.body and node.classes[0] == "ComputedBuffer" else node.classes[0]


def _numels(sizes: str) -> tuple[str, str]:
    """Iterated and reduced elements, as texts, of `([32], [10])`; empty if a node has no loops."""
    parts = split_arguments(sizes.strip()[1:-1])
    if len(parts) != 2:
        return "", ""
    iterated, reduced = (_product_text(split_arguments(part.strip()[1:-1])) for part in parts)
    return iterated, reduced


def _product_text(lengths: list[str]) -> str:
    known = product(int(length[:19]) for length in lengths if length.isdecimal())
    symbolic = [length for length in lengths if not length.isdecimal()]
    if not symbolic or not known:
        return "" if known is None else str(known)
    if len(symbolic) > 1 or known != 1:
        symbolic = [length if _FACTORS.fullmatch(length) else f"({length})" for length in symbolic]
    return "*".join([*([str(known)] if known != 1 else []), *sorted(symbolic)])


def _dependencies(listed: str) -> list[str]:
    """What stands in `[MemoryDep(…), StarDep(…)]`."""
    return split_arguments(listed.strip().removeprefix("[").removesuffix("]"))


def _access(dependency: str, sizes: _Sizes) -> Access:
    """A MemoryDep, StarDep or WeakDep, as torch prints it."""
    kind = _KINDS.get(dependency.partition("(")[0], "star")
    arguments = _arguments(dependency)
    buffer = arguments[0].rpartition("=")[2].strip("'") if arguments else ""
    item, count = sizes.of(buffer)
    whole = product([item, count])
    if kind != "memory" or len(arguments) < 3:
        return Access(buffer=buffer, kind=kind, bytes=None if kind == "weak" else 0 if count == 0 else whole)
    index = arguments[1]
    ranges = [each.partition(": ") for each in split_arguments(arguments[2][1:-1])]
    used = set(_WORD.findall(index))
    touched = [_value(length, sizes.symbols) for name, _, length in ranges if name in used]
    is_gathered = any(name.startswith(_OF_VALUES) for name in used)
    return Access(
        buffer=buffer,
        index=index,
        ranges=tuple(f"{name}={length}" for name, _, length in ranges),
        bytes=product([item, count] if is_gathered else [item, *touched]),
        item=item,
        whole=whole,
    )


def _order(access: Access) -> tuple[str, str, str, tuple[str, ...]]:
    return access.buffer, access.kind, access.index or "", access.ranges


def _users(node: _Node) -> Iterator[str]:
    found = (_USER.findall(line) for buffer in node.buffers for line in buffer.users)
    return (output or name for output, name in chain.from_iterable(found))


def _number(name: str) -> tuple[int, str]:
    digits = "".join(character for character in name if character.isdecimal())
    return (int(digits[:9]) if digits else 0), name

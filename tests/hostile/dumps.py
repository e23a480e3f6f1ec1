"""Hostile dumps: recorded ones with faults in them, and ones made up from the types of the facts.

The types say what can stand in a dump, so that a new fact, or a new field of one, is taken in here too.
"""

import json
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

import msgspec
from hypothesis import strategies as st

from inspect_compile.dump import paths
from inspect_compile.facts import FACTS, Fact, Run

Files = dict[str, bytes]
"""Path in the dump → contents."""

Json = Any

DATA: Final = Path(__file__).resolve().parent.parent / "data"
RECORDED: Final = ("draw/conditional", "draw/softmax_mlp_cuda", "h200-torch-2.11/user_triton_kernel", "tui/mixed")

STEERING: Final = (
    "\x1b[31m\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\\x1b]0;title\x07\x1bPq\x1b\\\x9b2J\x90\x85\x00\x08\r\x7f"
    "\u202e\u2066\u200f\u061c\u2028[bold red]m[/][link=x]l[/] :boom: <b>&amp;</b> \\N \\{ {a} %s $(id) `id` ' \""
)
"""Everything that a terminal, rich, DOT, XML, a shell or a format string might take for more than text."""

TEXTS: Final = (
    "",
    " ",
    "\n",
    "a\nb\tc",
    STEERING,
    "\x1b",
    "\x1b[",
    "[",
    "[/]",
    "[/bold]",
    "{b}{a}{0}{",
    "../../../../etc/passwd",
    "/etc/passwd",
    "/dev/zero",
    "//host/share/x.py",
    "\0",
    "%",
    "%op0",
    "_" * 3000,
    "op1_" * 800,
    "A(" * 500,
    "((" * 500,
    "a/" * 300,
    "a." * 300,
    "文字" * 300,
    "e\u0301\u200d\U0001f469" * 100,
    "9" * 5000,
    "²",
    "op²",
    "0/²",
    "-1",
    "OUTPUT",
    "None",
    "x" * 20_000,
    "-" * 300 + "x",
    "TensorBox(StorageBox(\n" * 40,
    "[\n(\n(\n)",
    "Pointwise(\n" * 30 + "origin_node=op0,",
    "class " * 3,
)

NAMES: Final = ("op0", "op1", "op0_op1", "buf0", "buf1", "n0", "n1", "g.0", "kernel_0", "true", "primals_1", "getitem")
"""Few, so that the facts of a made-up dump speak of each other, and of themselves."""

GRAPHS: Final = ("g.0", "g.0/true", "g.0/true/true", "g.0/g.0", "g.1", "0/0", "0/1", "")

WORDS: Final = (
    *("forward", "backward", "inference", "subgraph", "autotune", "constants", "compiled", "failed", "skipped"),
    *("dynamo", "joint", "aot", "post_grad", "placeholder", "get_attr", "call_function", "output"),
    *("lowering", "fallback", "decomposition", "view", "pattern", "dead", "matmul", "pointwise", "reduction", "none"),
    *("pre_fusion", "post_fusion", "extern", "template", "nop", "foreach", "fused", "grouped", "other", "MultiOutput"),
    *("memory", "star", "weak", "refused", "allowed", "triton", "cpp", "user_triton", "passed", "missed", "analysis"),
    *("allocate", "reuse", "free", "launch", "multi_output", "reinterpret", "pool_allocate", "pool_free", "text"),
    *("enter_subgraph", "exit_subgraph", "ExternKernelAllocLine", "installed", "missing", "closed", "hit", "bypass"),
    *("aten.mm.default", "float32", "cpu", "x.py", "/x.py", "fx_graph_readable.py", "hit", "running", "raised"),
)
"""What means something to a view."""

INTEGERS: Final = (0, 1, 2, 3, -1, 4096, 2**31, 2**53 + 1, 2**63 - 1, -(2**63))
BEYOND: Final = (2**63, 2**64, -(2**63) - 1, 10**400, 10**4000)
"""More than 64 bits."""

FLOATS: Final = (0.0, 1.5, -1.0, 1e-320, 1e308, -1e308)
WRONG: Final[tuple[Json, ...]] = (None, True, 0, -1.5, "x", [], {}, [[]], {"a": {}}, [None], *BEYOND, float("nan"))
"""Of a type that a field may not have, whatever it is."""


def strings() -> st.SearchStrategy[str]:
    """Names and words that views know, and what nobody expects."""
    known = st.sampled_from(NAMES) | st.sampled_from(WORDS)
    return st.one_of(known, known, known, st.sampled_from(TEXTS), st.text(st.characters(codec="utf-8"), max_size=9))


def of_type(kind: msgspec.inspect.Type) -> st.SearchStrategy[Json]:
    """JSON that a field of this type accepts."""
    match kind:
        case msgspec.inspect.UnionType(types=types):
            return st.one_of(*map(of_type, types))
        case msgspec.inspect.StrType():
            return strings()
        case msgspec.inspect.BoolType():
            return st.booleans()
        case msgspec.inspect.IntType():
            return st.sampled_from(INTEGERS)
        case msgspec.inspect.FloatType():
            return st.sampled_from(FLOATS)
        case msgspec.inspect.NoneType():
            return st.none()
        case msgspec.inspect.VarTupleType(item_type=item):
            return st.lists(of_type(item), max_size=4)
        case msgspec.inspect.LiteralType(values=values):
            return st.sampled_from(values)
        case msgspec.inspect.TupleType(item_types=items):
            return st.tuples(*map(of_type, items)).map(list)
        case msgspec.inspect.DictType(key_type=key, value_type=value):
            return st.dictionaries(of_type(key), of_type(value), max_size=3)
        case msgspec.inspect.StructType(cls=cls):
            return st.deferred(lambda: struct(cls))  # a location has that of its caller
    raise AssertionError(f"{kind}: a new type of field, say here what hostile values it has")


def fields(kind: type[msgspec.Struct]) -> Mapping[str, msgspec.inspect.Field]:
    """The fields of a struct by name."""
    found = msgspec.inspect.type_info(kind)
    assert isinstance(found, msgspec.inspect.StructType)
    return {field.name: field for field in found.fields}


@cache
def struct(kind: type[msgspec.Struct]) -> st.SearchStrategy[Json]:
    """JSON objects that are a `kind`."""
    own = fields(kind)
    needed = {name: _field(name, field) for name, field in own.items() if field.required}
    others = {name: _field(name, field) for name, field in own.items() if not field.required}
    tag = {"fact": st.just(kind.__struct_config__.tag)} if issubclass(kind, Fact) else {}
    return st.fixed_dictionaries({**tag, **needed}, optional=others)


def _field(name: str, field: msgspec.inspect.Field) -> st.SearchStrategy[Json]:
    if name == "graph":
        return st.sampled_from((*GRAPHS[:4], *GRAPHS))
    return of_type(field.type)


def encoded(row: Json) -> bytes:
    """One line of a table. What is no text, a lone surrogate, is written as JSON can write it."""
    return json.dumps(row).encode() + b"\n"


@st.composite
def made_up(draw: st.DrawFn) -> Files:
    """A dump of facts whose types are right, and nothing else."""
    run = draw(struct(Run))
    files: Files = {paths.RUN: encoded({**run, "schema": 1, "status": draw(st.sampled_from(("finished", "raised")))})}
    rows: list[Json] = [{"fact": "graph", "graph": name, "kind": draw(st.sampled_from(WORDS[:6]))} for name in GRAPHS]
    kinds = draw(st.lists(st.sampled_from(FACTS), min_size=1, max_size=6, unique=True))
    for kind in kinds:
        rows += draw(st.lists(struct(kind), min_size=1, max_size=6))
    for row in rows:
        kind = next(kind for kind in FACTS if kind.__struct_config__.tag == row["fact"])
        name = paths.table(kind.table, row.get("graph", "") if kind.per_graph else None)
        files[name] = files.get(name, b"") + encoded(row)
    for name in draw(st.lists(st.sampled_from(TEXT_FILES), max_size=2)):
        text = "\n".join(draw(st.lists(strings(), max_size=6)))
        files[f"{paths.graph_folder('g.0')}/{name}"] = text.encode("utf-8", "replace")
    return files


TEXT_FILES: Final = ("output_code.py", "output_code.cpp", "fx_graph_readable.py", "ir_pre_fusion.txt", "x.py")


@cache
def recorded(name: str) -> Files:
    """The files of a recorded dump, but the derived ones."""
    root = DATA / name
    files = {str(path.relative_to(root)): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}
    return {path: data for path, data in files.items() if path != paths.FINISHED}


@st.composite
def damaged(draw: st.DrawFn, name: str) -> Files:
    """A recorded dump with a few faults."""
    files = dict(recorded(name))
    for _ in range(draw(st.integers(1, 6))):
        fault = draw(st.sampled_from((_bytes, _field_of_row, _field_of_row, _renamed, _removed)))
        files = fault(draw, files)
    return files


def _bytes(draw: st.DrawFn, files: Files) -> Files:
    """Bytes flipped, cut out or put in."""
    name = draw(st.sampled_from(sorted(files)))
    data = bytearray(files[name])
    at = draw(st.integers(0, len(data)))
    to = min(len(data), at + draw(st.integers(0, 40)))
    data[at:to] = draw(
        st.sampled_from((b"", b"\n", b"\0", b"\xff\xfe", b"\xed\xa0\x80", b"[" * 5000, b"1e999", b"NaN", b'"', b"{}\n"))
        | st.binary(max_size=8)
    )
    return {**files, name: bytes(data)}


def _removed(draw: st.DrawFn, files: Files) -> Files:
    name = draw(st.sampled_from(sorted(files)))
    return {path: data for path, data in files.items() if path not in (name,) or path == paths.RUN}


def _rows(data: bytes) -> list[Json]:
    rows = []
    for line in data.splitlines():
        try:
            rows.append(json.loads(line))
        except (ValueError, RecursionError):
            rows.append(None)
    return rows


def _field_of_row(draw: st.DrawFn, files: Files) -> Files:
    """One value replaced, by another of its kind or by none of its kind, or left out; a row told twice."""
    name = draw(st.sampled_from(sorted(name for name in files if name.endswith(".jsonl"))))
    lines = files[name].splitlines(keepends=True)
    if not lines:
        return files
    at = draw(st.integers(0, len(lines) - 1))
    try:
        row = json.loads(lines[at])
    except (ValueError, RecursionError):
        return files
    kind = next(
        (kind for kind in FACTS if isinstance(row, dict) and kind.__struct_config__.tag == row.get("fact")), None
    )
    if kind is None:
        return files
    for _ in range(draw(st.integers(1, 3))):
        field = draw(st.sampled_from(sorted(fields(kind))))
        fit = of_type(fields(kind)[field].type)
        row[field] = draw(st.one_of(fit, fit, st.sampled_from(WRONG)))
        if draw(st.integers(0, 9)) == 0:
            del row[field]
    lines[at : at + draw(st.integers(0, 1))] = [encoded(row)]
    return {**files, name: b"".join(lines)}


def _renamed(draw: st.DrawFn, files: Files) -> Files:
    """One name changed wherever it stands, so that the facts still speak of each other."""
    name = draw(st.sampled_from(sorted(name for name in files if name.endswith(".jsonl"))))
    known = sorted({text for row in _rows(files[name]) for text in texts_in(row) if 0 < len(text) < 100})
    if not known:
        return files
    old, new = draw(st.sampled_from(known)), draw(st.sampled_from(TEXTS) | st.sampled_from(known))
    return {
        path: data.replace(json.dumps(old).encode(), json.dumps(new).encode()) if path.endswith(".jsonl") else data
        for path, data in files.items()
    }


def texts_in(value: Json) -> Iterator[str]:
    """All texts in a value, but the names of its fields."""
    match value:
        case str():
            yield value
        case list():
            for item in value:
                yield from texts_in(item)
        case dict():
            for item in value.values():
                yield from texts_in(item)


KEPT: Final = frozenset(
    {"stage", "phase", "what", "op", "kind", "status", "verdict", "way", "torch_type", "ir_type", "flops_kind"}
)
"""Fields that decide whether a row is shown at all."""


def steering(name: str, *, everything: bool, steer: str = STEERING) -> Files:
    """A recorded dump in which each text begins with `steer`, so that the facts still speak of each other."""
    files: Files = {}
    for path, data in recorded(name).items():
        if path.endswith(".jsonl"):
            for line in data.splitlines():
                row = _steered(json.loads(line), "", everything, steer)
                kind = next(kind for kind in FACTS if kind.__struct_config__.tag == row["fact"])
                table = paths.table(kind.table, row["graph"] if kind.per_graph else None)
                files[table] = files.get(table, b"") + encoded(row)
        elif path == paths.RUN:
            files[path] = encoded({**_steered(json.loads(data), "", everything, steer), "status": "raised"})
        elif path.startswith(f"{paths.GRAPHS}/"):
            _, graph, rest = path.split("/", 2)
            files[f"{paths.graph_folder(_steered(graph, '', True, steer))}/{rest}"] = f"{steer}\n".encode() + data
        else:
            files[path] = data
    return files


def _steered(value: Json, field: str, everything: bool, steer: str) -> Json:
    match value:
        case str():
            is_kept = field == "fact" or (field in KEPT and not everything)
            return value if is_kept else steer.replace("/", "|") + value  # a slash would make it a nested graph
        case list():
            return [_steered(item, field, everything, steer) for item in value]
        case dict():
            return {name: _steered(item, name, everything, steer) for name, item in value.items()}
    return value


def write(root: Path, files: Files) -> Path:
    """The dump as files."""
    for name, data in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return root

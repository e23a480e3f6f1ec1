"""Wrappers of any length, made to be slow to replay."""

from collections.abc import Callable
from typing import Any, Final

from inspect_compile.facts import Fact, MemoryPlan
from tests.handmade import GRAPH, line, operation

Row = tuple[str, dict[str, Any]]
"""The kind of a line, and its other fields."""


def _numbered(*rows: Row) -> list[Fact]:
    return [line(index, what, **more) for index, (what, more) in enumerate(rows)]


def _allocated(n: int) -> list[Row]:
    return [("allocate", {"buffer": f"buf{i}", "bytes": 8}) for i in range(n)]


def _freed(n: int) -> list[Row]:
    return [("free", {"buffer": f"buf{i}"}) for i in range(n)]


def _text(text: str) -> Row:
    return "text", {"text": text}


def _allocations(n: int) -> list[Fact]:
    return _numbered(*_allocated(n), *_freed(n))


def _reuses(n: int) -> list[Fact]:
    """All in one memory, one after the other."""
    first = ("allocate", {"buffer": "buf0", "bytes": 8})
    more = {"delete_old": True, "is_planned": True, "bytes": 8}
    return _numbered(first, *(("reuse", {"buffer": f"buf{i}", "becomes": f"buf{i + 1}", **more}) for i in range(n)))


def _pools(n: int) -> list[Fact]:
    rows: list[Row] = []
    for i in range(n):
        rows.append(("pool_allocate", {"buffer": f"buf{i}", "pool": f"pool{i}", "pool_bytes": 8, "bytes": 8}))
        rows.append(("reuse", {"buffer": f"buf{i}", "becomes": f"own{i}"}))
    rows += [("pool_free", {"buffer": f"buf{i}", "pool": f"pool{i}", "is_last": True}) for i in range(n)]
    return _numbered(*rows)


def _chain_in_a_pool(n: int) -> list[Fact]:
    """Each takes the place of the one before, and all are freed under their first names."""
    rows: list[Row] = [
        ("pool_allocate", {"buffer": "buf0", "pool": "pool0", "pool_bytes": 8, "bytes": 8}),
        *(("reuse", {"buffer": f"buf{i}", "becomes": f"buf{i + 1}", "delete_old": True}) for i in range(n)),
        *(("pool_free", {"buffer": f"buf{i}", "pool": "pool0"}) for i in range(n)),
    ]
    return _numbered(*rows)


def _branches(n: int) -> list[Fact]:
    rows: list[Row] = _allocated(n)
    for i in range(n):
        rows += [
            ("enter_subgraph", {}),
            ("free", {"buffer": f"buf{i}"}),
            ("exit_subgraph", {}),
            _text("else:"),
        ]
        rows += [("enter_subgraph", {}), ("free", {"buffer": f"buf{i}"}), ("exit_subgraph", {})]
    return _numbered(*rows)


def _branches_in_branches(n: int) -> list[Fact]:
    rows: list[Row] = _allocated(n)
    rows += [("enter_subgraph", {})] * n
    for i in range(n):
        rows += [("free", {"buffer": f"buf{i}"}), ("exit_subgraph", {})]
    return _numbered(*rows)


def _nested_calls(n: int) -> list[Fact]:
    """Each nested graph is called once."""
    facts: list[Fact] = []
    for i in range(n):
        nested = f"{GRAPH}/sub_{i}"
        facts += [
            MemoryPlan(graph=nested, inputs={"arg0": 8}, outputs=("buf0",)),
            line(0, "allocate", graph=nested, buffer="buf0", bytes=8),
        ]
    rows: list[Row] = [("allocate", {"buffer": "buf0", "bytes": 8})]
    for i in range(n):
        rows.append(_text(f"sub_{i}_args = [buf{i}]"))
        rows.append(("free", {"buffer": f"buf{i}"}))
        rows.append(_text(f"(buf{i + 1},) = sub_{i}(sub_{i}_args)"))
    return [MemoryPlan(graph=GRAPH, outputs=(f"buf{n}",)), *facts, *_numbered(*rows)]


def _many_arguments(n: int) -> list[Fact]:
    """One call, with all that there is."""
    nested, names = f"{GRAPH}/sub_0", [f"buf{i}" for i in range(n)]
    rows: list[Row] = [("allocate", {"buffer": name, "bytes": 8}) for name in names]
    rows.append(_text(f"sub_0_args = [{', '.join(names)}]"))
    rows += [("free", {"buffer": name}) for name in names]
    rows.append(_text(f"({', '.join(f'out{i}' for i in range(n))},) = sub_0(sub_0_args)"))
    return [
        MemoryPlan(graph=nested, inputs={f"arg{i}": 8 for i in range(n)}, outputs=tuple(f"arg{i}" for i in range(n))),
        line(0, "none", graph=nested),
        MemoryPlan(graph=GRAPH, outputs=tuple(f"out{i}" for i in range(n))),
        *_numbered(*rows),
    ]


def _loops(n: int) -> list[Fact]:
    rows: list[Row] = []
    for i in range(n):
        rows += [_text(text) for text in ("should_loop = True", "if not should_loop:")]
        rows += [_text(f"carried{i}[0] = buf{i}.clone()"), _text("while should_loop:")]
        rows += [_text(f"    kept{i}[0].append(carried{i}[0])")] * 3
        rows.append(_text("    should_loop = carried0[0]"))
    nested = f"{GRAPH}/body_0"
    return [line(0, "none", graph=nested), *_numbered(*rows)]


def _blocks_without_an_end(n: int) -> list[Fact]:
    return [line(0, "none", graph=f"{GRAPH}/body_0"), *_numbered(*[_text("if not should_loop:")] * n)]


def _parts(n: int) -> list[Fact]:
    parts = [operation(f"op{i}", reads={"buf": 8}, writes={f"buf{i}": 8}, ir_type="MultiOutput") for i in range(n)]
    call = ("extern", {"buffer": "buf", "torch_type": "ExternKernelAllocLine", "kernel": "torch.ops.aten.split.Tensor"})
    taken = [("multi_output", {"buffer": f"buf{i}", "text": f"buf[{i}]"}) for i in range(n)]
    return [*parts, *_numbered(call, *taken, *(("free", {"buffer": f"buf{i}"}) for i in range(n)))]


WRAPPERS: Final[dict[str, Callable[[int], list[Fact]]]] = {
    "allocations": _allocations,
    "reuses": _reuses,
    "pools": _pools,
    "a chain in a pool": _chain_in_a_pool,
    "branches": _branches,
    "branches in branches": _branches_in_branches,
    "calls of nested graphs": _nested_calls,
    "a call with many arguments": _many_arguments,
    "loops": _loops,
    "blocks without an end": _blocks_without_an_end,
    "parts of what a call returns": _parts,
}

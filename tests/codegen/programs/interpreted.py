"""python interpreted.py SOURCE …: runs Triton kernels of a dump in Triton's interpreter, and counts what they compute.

Prints for each {"scalar": …, "special": …}. Sizes are those that the source names, or in its `size_hints`; one program
runs over all of them. What is counted are calls of functions and operators in the statements that assign `tmp…`: a
helper is one operation, a reduction one for each element that goes in. Index arithmetic, masks and casts are none, as
docs/flops.md says.
"""

import ast
import json
import os
import re
import sys
from collections import Counter
from pathlib import Path
from types import ModuleType
from typing import Any

os.environ["TRITON_INTERPRET"] = "1"
sys.setrecursionlimit(10_000)

import numpy as np
import torch
import triton.language as tl
from torch._inductor.runtime import triton_helpers
from triton.runtime import interpreter

SPECIAL = re.compile(r"(exp2?|expm1|log\w*|sqrt\w*|rsqrt|sin|cos|tan|tanh|erf|erfc|sigmoid|pow\w*|rand\w*)$")
MOVES = re.compile(
    r"create_(\w*load|\w*store|splat|unsplat|expand_dims|broadcast|bitcast|cast|trans|reshape|make_range|addptr|get_\w+"
    r"|int_cast|fp_to_\w+|si_to_fp|ui_to_fp|fp_ext|fp_trunc|int_to_ptr|ptr_to_int|barrier|assert|assume|print|join|split)$"
)
STATEMENT = re.compile(r"\s*_?tmp\w*(?:, _?tmp\w*)*,? = (?!tl\.(load|full|broadcast_to|where\(\w*mask))")
MASKED = re.compile(r"tl\.where\((\w*mask\b|\w*mask & )")
WEIGHTS = {"welford_reduce": 7, "max_with_index": 2, "min_with_index": 2, "zeros": 0}
HALF = 0.5


class Counting:
    """What the statements of one kernel do."""

    def __init__(self) -> None:
        self.is_inside = False
        self.begin("", [])

    def begin(self, file: str, source: list[str]) -> None:
        """Another kernel runs."""
        self.file, self.source = file, source
        self.found: Counter[str] = Counter()

    def line(self) -> str | None:
        """The statement that runs."""
        frame = sys._getframe(1)
        while frame is not None:
            if frame.f_code.co_filename == self.file:
                return self.source[frame.f_lineno - 1]
            frame = frame.f_back  # type: ignore[assignment]
        return None

    def count(self, name: str, *values: Any) -> None:
        """An operation on these, or with these results."""
        line = self.line()
        if line is not None and STATEMENT.match(line) and not MASKED.search(line):
            self.found[name] += max(_size(value) for value in values)


def _size(value: Any) -> int:
    if isinstance(value, (tuple, list)):
        return max(map(_size, value), default=1)
    data = getattr(getattr(value, "handle", value), "data", None)
    return int(np.size(data)) if data is not None else 1


def watch(counting: Counting) -> None:
    """Count the builder's operations and the calls of jitted helpers."""
    builder = interpreter.InterpreterBuilder
    for name in dir(builder):
        if name.startswith("create_") and not MOVES.match(name):
            setattr(builder, name, _counted(counting, name, getattr(builder, name)))
    called = interpreter.InterpretedFunction.__call__

    def call(function: Any, *args: Any, **kwargs: Any) -> Any:
        if counting.is_inside:
            return called(function, *args, **kwargs)
        counting.is_inside = True
        try:
            result = called(function, *args, **kwargs)
        finally:
            counting.is_inside = False
        counting.count(function.fn.__name__, result, *args)
        return result

    interpreter.InterpretedFunction.__call__ = call
    interpreter.ScanOps.apply = _whole(counting, "scan", interpreter.ScanOps.apply)


def _whole(counting: Counting, name: str, method: Any) -> Any:
    """What it does inside is not looked at."""

    def run(self: Any, values: Any) -> Any:
        is_inside, counting.is_inside = counting.is_inside, True
        try:
            result = method(self, values)
        finally:
            counting.is_inside = is_inside
        if not is_inside:
            counting.count(name, values)
        return result

    return run


def _counted(counting: Counting, name: str, method: Any) -> Any:
    def run(self: Any, *args: Any, **kwargs: Any) -> Any:
        result = method(self, *args, **kwargs)
        if not counting.is_inside:
            counting.count(name, result)
        return result

    return run


class Libdevice:
    """The interpreter has none: torch has the same functions, most under the same names."""

    def __init__(self, counting: Counting) -> None:
        self.counting = counting

    def __getattr__(self, name: str) -> Any:
        other = {"fast_tanhf": torch.tanh, "nearbyint": torch.round, "llrint": torch.round, "fast_expf": torch.exp}
        function = other.get(name) or getattr(torch, name)

        def run(*arguments: Any) -> Any:
            data = [torch.from_numpy(np.array(argument.handle.data)) for argument in arguments]
            value, kind = np.asarray(function(*data).numpy()), arguments[0].type
            result = tl.tensor(interpreter.TensorHandle(value.astype(data[0].numpy().dtype), kind.scalar), kind)
            if not self.counting.is_inside:
                self.counting.count(name, result)
            return result

        return run


def kernel_of(path: Path) -> tuple[Any, dict[str, str], dict[str, int]]:
    """The kernel as Triton's own decorator makes it, its signature and the sizes that torch thought of."""
    text = path.read_text()
    tree = ast.parse(text)
    definition, heuristic = next(
        (node, decorator)
        for node in tree.body
        if isinstance(node, ast.FunctionDef)
        for decorator in node.decorator_list
        if isinstance(decorator, ast.Call)
    )
    keywords = {keyword.arg: keyword.value for keyword in heuristic.keywords}
    sizes: dict[str, int] = ast.literal_eval(keywords["size_hints"])
    meta = keywords["triton_meta"]
    assert isinstance(meta, ast.Dict)
    parts = {
        key.value: value for key, value in zip(meta.keys, meta.values, strict=True) if isinstance(key, ast.Constant)
    }
    signature: dict[str, str] = ast.literal_eval(parts["signature"])
    sizes |= ast.literal_eval(parts["constants"])
    lines = text.splitlines()
    for number in range(heuristic.lineno - 1, (heuristic.end_lineno or 0)):
        lines[number] = ""
    lines = ["" if "set_driver_to_gpu" in line else line for line in lines]
    path = path.with_name("interpreted_source.py")
    path.write_text("\n".join(lines))
    module = ModuleType(path.stem)
    module.__file__ = str(path)
    import linecache

    linecache.checkcache(str(path))
    exec(compile(path.read_text(), str(path), "exec"), vars(module))
    return getattr(module, definition.name), signature, sizes


def run(path: Path, counting: Counting) -> dict[str, int]:
    """One kernel."""
    kernel, signature, sizes = kernel_of(path)
    counting.begin(str(path.with_name("interpreted_source.py")), path.read_text().splitlines())
    kernel.fn.__globals__["libdevice"] = triton_helpers.libdevice = Libdevice(counting)
    torch.manual_seed(0)
    room = 1 << 18
    types = {
        "*fp32": torch.float32,
        "*bf16": torch.bfloat16,
        "*i64": torch.int64,
        "*i1": torch.bool,
        "*i32": torch.int32,
    }
    types |= {"*fp64": torch.float64, "*fp16": torch.float16}
    arguments: dict[str, Any] = {}
    for name, kind in signature.items():
        if kind.startswith("*"):
            dtype = types[kind]
            is_float = dtype.is_floating_point
            arguments[name] = torch.rand(room).add_(HALF).to(dtype) if is_float else torch.zeros(room, dtype=dtype)
        elif name in sizes:
            arguments[name] = sizes[name]
        elif kind == "constexpr":
            arguments[name] = sizes[name.removesuffix("BLOCK").rstrip("_").lower() + "_" * name.startswith("R")]
        else:
            arguments[name] = sizes[name.removesuffix("numel")]
    is_looped = any(re.match(r"\s*for .*range\(", line) is not None for line in counting.source)
    kernel[(1,)](**arguments)
    if is_looped:  # what is left of a block's own sum is beside the loop: no element goes in twice
        for name in ("sum", "max2", "min2", "any", "max_with_index", "min_with_index", "welford"):
            counting.found.pop(name, None)
    scalar = sum(count * WEIGHTS.get(name, 1) for name, count in counting.found.items())
    special = sum(count for name, count in counting.found.items() if SPECIAL.search(name))
    return {"scalar": scalar, "special": special, **counting.found}


if __name__ == "__main__":
    everything = Counting()
    watch(everything)
    for argument in sys.argv[1:]:
        print(json.dumps(run(Path(argument), everything)))

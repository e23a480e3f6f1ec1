"""The kernels that a generated Python module defines."""

import ast
import re
from typing import Final, NamedTuple

from inspect_compile.origins.python_text import dotted

_KINDS: Final = {
    "triton": "triton",
    "cpp": "cpp",
    "cpp_pybinding": "cpp",
    "cuda": "template",
    "xpu": "template",
    "rocm": "template",
    "cutedsl": "template",
    "nv_universal_gemm": "template",
    "halide": "other",
    "metal": "other",
    "pallas": "other",
    "multi_kernel": "other",
}
"""Method of torch's AsyncCompile that compiles a kernel → its kind."""
_SHADER: Final = "compile_mps_shader"
_HEURISTICS: Final = re.compile(r"^@triton_heuristics\.(\w+)\(", re.MULTILINE)
_USER_WRITTEN: Final = "user_autotune"
_FORMS: Final = {
    "pointwise": "pointwise",
    "reduction": "reduction",
    "persistent_reduction": "persistent reduction",
    "cooperative_reduction": "cooperative reduction",
    "split_scan": "split scan",
    "template": "template",
    "foreach": "foreach",
    _USER_WRITTEN: "user-written",
}
"""Function that decorates a Triton kernel → the kernel's form."""
_MIX_ORDER: Final = "'RSPLIT_SIZE': 'constexpr'"
_MICRO_GEMM: Final = "_micro_gemm"
"""In the name of a function that only a C++ template writes."""
_DEVICE: Final = re.compile(r"DeviceProperties\(type='(\w+)', index=(\d+)")
_DEVICE_TYPE: Final = re.compile(r"device_str='(\w+)'")
_SIZE: Final = re.compile(r"^    ((?:[zyx]|r\d_|r)numel) = (\d+)$", re.MULTILINE)
_PATH: Final = re.compile(r"^(?:#|//) kernel path: (.+)$", re.MULTILINE)
_NAMED: Final = re.compile(r"#   %(\w+)")
_MAPPED: Final = re.compile(r"#   \S+ => (.+)$", re.MULTILINE)
_FRAGMENT: Final = "# Graph fragment:"


class Definition(NamedTuple):
    """One kernel, as its definition tells."""

    name: str
    kind: str
    form: str
    device: str
    nodes: tuple[str, ...]
    metadata: str
    """The comment above."""
    path: str
    """The source file in torch's cache."""
    numel: tuple[str, ...]
    source: str
    """Its own text; empty where it is no text in the module."""
    first: int
    """First line of the definition."""
    last: int
    """Last line of it."""


def definitions(module: ast.Module, lines: list[str]) -> dict[str, Definition]:
    """Every kernel that `module` defines, by name."""
    found: dict[str, Definition] = {}
    last = 0
    for statement in module.body:
        before, last = last, statement.end_lineno or statement.lineno
        if statement.lineno == before:
            continue  # torch writes one statement a line: the time is that of the lines
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=function) as call):
                compiler, _, method = dotted(function).rpartition(".")
                if compiler == "async_compile" or method == _SHADER:
                    found[name] = _definition(name, _KINDS.get(method, "other"), call, statement.lineno, last, lines)
    return found


def _definition(name: str, kind: str, call: ast.Call, first: int, last: int, lines: list[str]) -> Definition:
    comment = _comment_above(first, lines)
    text = "\n".join(lines[first - 1 : last])
    source = _bare(text)
    heuristics = match[1] if kind == "triton" and (match := _HEURISTICS.search(source)) else ""
    form = _FORMS.get(heuristics, "")
    if heuristics in ("template", _USER_WRITTEN):
        kind = "template" if heuristics == "template" else "user_triton"
    elif kind == "cpp":
        kind, form = ("template", "template") if _MICRO_GEMM in source else (kind, "C++")
    elif kind == "template":
        form = "template"
    elif _MIX_ORDER in source:
        form = "mix-order reduction"
    path = _PATH.search(comment)
    return Definition(
        name=name,
        kind=kind,
        form=form,
        device="cpu" if _compiles_for_cpu(call) else _device(source, text),
        nodes=_nodes(comment),
        metadata=comment,
        path=path[1].strip() if path else "",
        numel=_numel(form, source),
        source=source,
        first=first,
        last=last,
    )


def _compiles_for_cpu(call: ast.Call) -> bool:
    """Whether the call compiles C++ for the CPU."""
    return dotted(call.func).rpartition(".")[2].startswith("cpp")


def _comment_above(line: int, lines: list[str]) -> str:
    first = line - 1
    while first > 0 and lines[first - 1].startswith(("#", "//")):
        first -= 1
    return "\n".join(lines[first : line - 1])


def _bare(text: str) -> str:
    """What stands between the first and the last triple quotes, as it stands there."""
    start, end = text.find("'''"), text.rfind("'''")
    return text[start + 3 : end].strip("\n") + "\n" if 0 <= start < end else ""


def _device(source: str, text: str) -> str:
    if (properties := _DEVICE.search(source)) is not None:
        return f"{properties[1]}:{properties[2]}"
    device = _DEVICE_TYPE.search(text[-200:])
    return device[1] if device else ""


def _nodes(comment: str) -> tuple[str, ...]:
    """The FX nodes that the comment above a kernel names as its own, in the graph's order where it says that."""
    _, mark, fragment = comment.partition(_FRAGMENT)
    if mark:
        rows = (line.partition(" = ") for line in fragment.split("\n"))
        named = (_NAMED.match(left) for left, _, call in rows if call and not call.startswith("PlaceHolder["))
        return tuple(dict.fromkeys(name[1] for name in named if name is not None))
    return tuple(dict.fromkeys(name.strip() for row in _MAPPED.findall(comment) for name in row.split(",")))


def _numel(form: str, source: str) -> tuple[str, ...]:
    """The sizes that it runs over, where they are numbers."""
    sizes = {name.removesuffix("numel"): length for name, length in _SIZE.findall(source)}
    if form == "pointwise" and sizes:
        sizes.setdefault("r0_", "1")
    order = sorted(sizes, key=lambda prefix: "zyxr".index(prefix[0]))
    return tuple(f"{prefix}={sizes[prefix]}" for prefix in order)

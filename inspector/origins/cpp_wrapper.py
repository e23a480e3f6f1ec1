"""The C++ that Inductor generates for a graph (AOTInductor, `cpp_wrapper`), as facts: kernels and the wrapper's lines.

It is read line by line, for torch writes one statement a line. What a line of no known form does is not known.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from inspect_compile.dump import paths
from inspect_compile.facts import Fact, Kernel, MemoryPlan, WrapperLine
from inspect_compile.knowledge.kernels.parameters import split_arguments
from inspect_compile.origins.counted_files import main_device
from inspect_compile.origins.dtypes import LARGEST, storage_bytes
from inspect_compile.origins.output_code import OutputCode
from inspect_compile.origins.wrapper_lines import planned_reuses

_BEGIN: Final = re.compile(r"\s*void (AOTInductorModel::run_impl|inductor_entry_impl)\($")
_BODY: Final = re.compile(r"\s*\) \{$")
_LONGEST: Final = 32 << 20
_LONGEST_LINE: Final = 100_000
"""Maximum characters of a text, and of a line of it that is read."""
_SHORT: Final = 300

_INPUT: Final = re.compile(r"auto (\w+) = std::move\(inputs\[\d+\]\);")
_CONSTANT: Final = re.compile(r"\[\[maybe_unused\]\] auto& (\w+) = constants_->at\(\d+\);")
_ARRAY: Final = re.compile(r"(?:static constexpr |const )?int64_t (int_array_\d+)\[\] = \{([^{}]*)\};")
_HANDLE: Final = re.compile(r"AtenTensorHandle (\w+)_handle;")
_OWNED: Final = re.compile(r"RAIIAtenTensorHandle (\w+)\(\w+_handle\);")
_EMPTY: Final = re.compile(
    r"aoti_torch_empty_strided\w*\(\d+, (\w+), (\w+), cached_torch_dtype_(\w+), cached_torch_device_type_(\w+),.*"
    r"&(\w+)_handle\)"
)
_CHECKED: Final = re.compile(r"AOTI_TORCH_ERROR_CODE_CHECK\((\w+)\((.*)\)\);")
_MOVED: Final = re.compile(r"auto (\w+) = std::move\((\w+)\);\s*// reuse")
_VIEWED: Final = re.compile(
    r"auto (\w+) = wrap_with_raii_handle_if_needed\(reinterpret_tensor_wrapper\((\w+), .*?\)\);(?: (\w+)\.reset\(\);)?"
    r"\s*// (reuse|alias)"
)
_RESET: Final = re.compile(r"(\w+)\.reset\(\);")
_RETURNED: Final = re.compile(r"output_handles\[\d+\] = (?:\w+\()*(\w+)\b")
_ASSERTED: Final = re.compile(
    r"assert_size_stride\((\w+), \{([^{}]*)\}, \{([^{}]*)\}, \"[^\"]*\"(?:, cached_torch_dtype_(\w+),)?"
)
_EXPECTED: Final = re.compile(r"int32_t (\w+)_expected_dtype = aoti_torch_dtype_(\w+)\(\);")
_CALL: Final = re.compile(r"(\w+)\((.*)\);")
_POINTER: Final = re.compile(r"\([\w *]+\)\((\w+)\.data_ptr\(\)\)")
_OUTPUT: Final = re.compile(r"&(\w+)_handle\b")
_DEFINED: Final = re.compile(r'(?:#include <torch/csrc/inductor/cpp_prefix\.h>\s*)?extern "C" +void +(\w+)\(')
_LOADED: Final = re.compile(
    r'(?:\w+\.)?(\w+) = loadKernel\((?:R"\(([^")]+)\)"|"([^"]+)"|\w+(?:, \w+)?), "(\w+)", (\d{1,9})'
)
_LAUNCHED: Final = re.compile(r"launchKernel\((?:\w+\.)?(\w+), \w+, \w+, \w+, (\d{1,9}), (\d{1,9}),")
_PROLOGUE: Final = ("auto", "__check", "inputs.clear", "[[", "int64_t", "py::")
"""What the function begins with, before it computes anything."""
_HANDLES: Final = "// [Provenance debug handles]"
_CALLS_TRITON: Final = "call_"
_DEVICE: Final = re.compile(r"cached_torch_device_type_(\w+)")
_PREFIX: Final = "#include <torch/csrc/inductor/cpp_prefix.h>"
_FORMS: Final = {
    "poi": "pointwise",
    "red": "reduction",
    "per": "persistent reduction",
    "for": "foreach",
    "tem": "template",
}
_NUMBER: Final = re.compile(r"-?\d{1,19}L*")


class LoadedBinary(NamedTuple):
    """Machine code that the wrapper loads for a Triton kernel."""

    kernel: str
    file: str
    """Name of its file, without folders; empty where it is in the library."""
    num_warps: int | None
    shared: int | None


@dataclass(frozen=True)
class CppCode(OutputCode):
    """What the C++ of a graph tells."""

    device: str = ""
    inputs: int = 0
    """What the function is called with, without the constants."""
    binaries: tuple[LoadedBinary, ...] = ()


def read_cpp_code(
    graph: str,
    wrapper: str,
    kernels: str = "",
    given: Mapping[str, int | None] = MappingProxyType({}),
    symbols: Mapping[str, int] = MappingProxyType({}),
) -> CppCode:
    """What the C++ wrapper of `graph`, and the file with its kernels, tell.

    `given`: bytes of what it is called with, by name, and `symbols`: symbol → its value in the example, where another
    text says so.
    """
    if len(wrapper) + len(kernels) > _LONGEST:
        return CppCode(note=f"the generated code of {graph} is not read: it is too long to be read")
    lines = wrapper.split("\n")
    sources = {**_defined(lines), **_defined(kernels.split("\n"))}
    binaries = _binaries(lines)
    begin = next((number for number, line in enumerate(lines) if _BEGIN.match(line)), None)
    if begin is None:
        return CppCode(note=f"the generated code of {graph} has no function that is known")
    lines = [line[:_LONGEST_LINE] for line in lines]
    devices = [found[1] for line in lines[begin:] if (found := _DEVICE.search(line))]
    device = main_device(devices)
    dtypes = {found[1]: found[2] for line in lines if (found := _EXPECTED.search(line))}
    reader = _Reader(graph, sources, {one.kernel for one in binaries}, device, dtypes, symbols, bytes_of=dict(given))
    reader.read(lines, begin)
    return reader.code(binaries)


def _defined(lines: list[str]) -> dict[str, str]:
    """Kernel → its source: from its first line to the one that closes it."""
    found: dict[str, str] = {}
    name, first, is_open = "", 0, False
    for number, line in enumerate(lines):
        if not name:
            if (defined := _DEFINED.match(line)) is None:
                continue
            name, first, is_open = defined[1], number, False
        is_open = is_open or line.rstrip().endswith("{")
        if not is_open and line.rstrip().endswith(";"):
            name = ""  # declared alone
        elif line.rstrip() == "}":
            found[name] = "\n".join((_PREFIX, *lines[first : number + 1], ""))
            name = ""
    return found


def _binaries(lines: list[str]) -> tuple[LoadedBinary, ...]:
    files: dict[str, str] = {}
    shared: dict[str, int] = {}
    warps: dict[str, int] = {}
    for line in lines:
        if (loaded := _LOADED.match(line[:_LONGEST_LINE].strip())) is not None:
            files[loaded[1]] = (loaded[2] or loaded[3] or "").replace("\\", "/").rpartition("/")[2]
            shared[loaded[1]] = int(loaded[5])
        elif (launched := _LAUNCHED.search(line[:_LONGEST_LINE])) is not None:
            warps[launched[1]] = int(launched[2])
    return tuple(LoadedBinary(name, file, warps.get(name), shared.get(name)) for name, file in files.items())


@dataclass
class _Reader:
    """Reads the function that computes the graph."""

    graph: str
    sources: Mapping[str, str]
    triton: set[str]
    device: str
    dtypes: Mapping[str, str]
    """Input → its type."""
    symbols: Mapping[str, int]
    rows: list[dict[str, Any]] = field(default_factory=list)
    arrays: dict[str, tuple[int, ...] | None] = field(default_factory=dict)
    bytes_of: dict[str, int | None] = field(default_factory=dict)
    inputs: list[str] = field(default_factory=list)
    constants: list[str] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)
    externs: list[tuple[str, int]] = field(default_factory=list)
    launches: dict[str, list[int]] = field(default_factory=dict)
    first: int | None = None
    """Where the statements began that only prepare the next row."""
    owned: int = 0
    """How many results of the last call are still to be named."""

    def read(self, lines: list[str], begin: int) -> None:
        """Read the body of the function that begins at `begin`."""
        is_inside = False
        for number in range(begin, len(lines)):
            line = lines[number][:_LONGEST_LINE]
            if line.startswith("}"):
                return
            if is_inside:
                self._line(line.strip(), number + 1)
            is_inside = is_inside or _BODY.match(line) is not None

    def code(self, binaries: tuple[LoadedBinary, ...]) -> CppCode:
        """All that was read."""
        in_place = planned_reuses(self.rows, dict.fromkeys(self.triton, "") | dict(self.sources))
        facts: list[Fact] = [WrapperLine(graph=self.graph, index=index, **row) for index, row in enumerate(self.rows)]
        known = {name: size for name in self.inputs if (size := self.bytes_of.get(name)) is not None}
        if len(known) == len(self.inputs):
            facts.append(MemoryPlan(graph=self.graph, inputs=known, outputs=tuple(self.outputs)))
        sources: dict[str, str] = {}
        for name, source in {**dict.fromkeys(self.triton, ""), **self.sources}.items():
            path = f"{paths.kernel_folder(self.graph, name)}/source.cpp" if source else ""
            if source:
                sources[path] = source
            facts.append(self._kernel(name, path, in_place.get(name, ())))
        for name, line in self.externs:
            facts.append(
                Kernel(graph=self.graph, name=name, kind="extern", form="extern", device=self.device, launches=(line,))
            )
        return CppCode(
            tuple(facts), tuple(sources.items()), device=self.device, inputs=len(self.inputs), binaries=binaries
        )

    def _kernel(self, name: str, path: str, inplace: tuple[str, ...]) -> Kernel:
        is_triton = name in self.triton
        kind = name.split("_")[1] if name.startswith("triton_") and name.count("_") > 1 else ""
        return Kernel(
            graph=self.graph,
            name=name,
            kind="triton" if kind in _FORMS else "user_triton" if is_triton else "cpp",
            form=_FORMS.get(kind, "user-written") if is_triton else "C++",
            device=self.device if is_triton else "cpu",
            source=path,
            launches=tuple(self.launches.get(name, ())),
            inplace=inplace if is_triton else (),
        )

    def _add(self, what: str, line: int, **fields: Any) -> None:
        begins = line if self.first is None else self.first
        self.first = None
        self.rows.append({"what": what, "line": begins, "end": line, **fields})

    def _line(self, line: str, number: int) -> None:
        if self.owned and _OWNED.match(line):
            self.rows[-1]["end"] = number
            self.owned -= 1
            return
        self.owned = 0
        if not line:
            return
        if (found := _ARRAY.match(line)) is not None:
            self.arrays[found[1]] = _numbers(found[2], self.symbols)
            self.first = self.first or number
        elif _HANDLE.match(line):
            self.first = self.first or number
        elif (found := _INPUT.match(line)) is not None:
            self.inputs.append(found[1])
        elif (found := _CONSTANT.match(line)) is not None:
            self.constants.append(found[1])
        elif line.startswith("//"):
            is_handle = line.startswith(_HANDLES)
            self._add(
                "comment", number, text=line if is_handle else "", torch_type="str" if is_handle else "CommentLine"
            )
        elif (found := _CHECKED.match(line)) is not None:
            self._checked(found[1], found[2], number)
        elif (found := _MOVED.match(line) or _VIEWED.match(line)) is not None:
            self._renamed(found, number)
        elif (found := _RESET.match(line)) is not None:
            self._free(found[1], number)
        elif (found := _RETURNED.match(line)) is not None:
            self.outputs.append(found[1])
        elif (found := _ASSERTED.search(line)) is not None:
            self._asserted(found, number)
        elif (found := _CALL.fullmatch(line)) is not None and self._kernel_of(found[1]):
            self._launch(self._kernel_of(found[1]), found[2], number)
        elif self.rows or not line.startswith(_PROLOGUE):
            self._add("text", number, text=line[:_SHORT], torch_type="str")

    def _checked(self, function: str, arguments: str, number: int) -> None:
        empty = _EMPTY.match(f"{function}({arguments})")
        if empty is not None:
            name, size = empty[5], _storage(empty[3], self.arrays.get(empty[1]), self.arrays.get(empty[2]))
            self.bytes_of[name] = size
            self._add("allocate", number, buffer=name, bytes=size, torch_type="AllocateLine")
            self.owned = 1
            return
        made = _OUTPUT.findall(arguments)
        if not made and function.endswith(("_size", "_item_bool", "_get_dtype")):
            self._add("host", number, text=function, torch_type="str")
            return
        out = arguments.partition(",")[0].strip() if function.endswith("_out") else ""
        buffer = out if out in self.bytes_of else made[0] if len(made) == 1 else None
        for name in made:
            self.bytes_of[name] = None
        size = self.bytes_of.get(buffer) if buffer else None
        kind = "ExternKernelOutLine" if out else "ExternKernelAllocLine"
        self.externs.append((function, number))
        self._add("extern", number, buffer=buffer, bytes=size, kernel=function, torch_type=kind)
        self.owned = len(made)

    def _renamed(self, found: re.Match[str], number: int) -> None:
        new, old = found[1], found[2]
        is_moved = found.re is _MOVED
        self.bytes_of[new] = self.bytes_of.get(old)
        is_reuse = is_moved or found[4] == "reuse"
        what, kind = ("reuse", "ReuseLine") if is_reuse else ("reinterpret", "ReinterpretLine")
        deletes = is_moved or found[3] == old
        fields = {"buffer": old, "becomes": new, "bytes": self.bytes_of[new], "delete_old": deletes}
        self._add(what, number, torch_type=kind, **fields)

    def _free(self, name: str, number: int) -> None:
        is_input = name in self.inputs
        kind = "FreeLine" if is_input else "FreeIfNotReusedLine"
        size = self.bytes_of.get(name)
        self._add("free", number, buffer=name, bytes=size, is_reused=None if is_input else False, torch_type=kind)

    def _asserted(self, found: re.Match[str], number: int) -> None:
        if (dtype := found[4] or self.dtypes.get(found[1])) is not None:
            self.bytes_of[found[1]] = _storage(
                dtype, _numbers(found[2], self.symbols), _numbers(found[3], self.symbols)
            )
        self._add("assert", number, torch_type="AssertSizeStrideLine")

    def _kernel_of(self, function: str) -> str:
        name = function.removeprefix(_CALLS_TRITON)
        return function if function in self.sources else name if name in self.triton else ""

    def _launch(self, kernel: str, arguments: str, number: int) -> None:
        self.launches.setdefault(kernel, []).append(number)
        names = tuple(_argument(argument) for argument in split_arguments(arguments))
        device = self.device if kernel in self.triton else "cpu"
        self._add("launch", number, kernel=kernel, arguments=names, device=device, torch_type="KernelCallLine")


def _argument(text: str) -> str:
    found = _POINTER.fullmatch(text)
    return found[1] if found else text


def _numbers(text: str, symbols: Mapping[str, int]) -> tuple[int, ...] | None:
    """`2L, s77, 32L`; None where one is not known."""
    found: list[int] = []
    for word in filter(None, map(str.strip, text.split(","))):
        number = int(word.rstrip("L")) if _NUMBER.fullmatch(word) else symbols.get(word)
        if number is None or abs(number) >= LARGEST:
            return None
        found.append(number)
    return tuple(found)


def _storage(dtype: str, size: tuple[int, ...] | None, stride: tuple[int, ...] | None) -> int | None:
    return None if size is None or stride is None else storage_bytes(dtype, size, stride)


def constants_of(wrapper: str) -> Iterator[tuple[str, str, str, int]]:
    """Weights and other constants: the program's name, torch's, the type, the bytes."""
    known: dict[str, dict[str, str]] = {}
    for found in _INFO.finditer(wrapper[:_LONGEST]):
        known.setdefault(found[1], {})[found[2]] = found[3].strip('"').removeprefix("cached_torch_dtype_")
    for info in known.values():
        size = info.get("data_size", "")
        if size.isascii() and size.isdecimal() and len(size) < 19:
            yield info.get("original_fqn", ""), info.get("name", ""), info.get("dtype", ""), int(size)


_INFO: Final = re.compile(
    r"constants_info_\[(\d{1,6})\]\.(name|dtype|data_size|original_fqn) = (\"[^\"\n]{0,1000}\"|\w{1,100});"
)

"""`.pt2` files: packages of AOTInductor, and exported programs; both are zips.

Read in place. Weights, constants and sample inputs are not opened: some of them are pickles.
"""

import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from inspect_compile.dump import paths
from inspect_compile.dump.files import LONGEST_TEXT
from inspect_compile.dump.writer import Writer
from inspect_compile.facts import Artifact, Binary, Fact, Graph, GraphEnd, Kernel, MemoryPlan, Stage
from inspect_compile.knowledge.kernels.resources import of_cubin
from inspect_compile.knowledge.origins import AOTI_PACKAGE, EXPORTED_PROGRAM, PACKAGE
from inspect_compile.origins.archives import DAMAGE, opened_zip
from inspect_compile.origins.counted_files import Counted, finish
from inspect_compile.origins.cpp_wrapper import LoadedBinary, constants_of, read_cpp_code
from inspect_compile.origins.exported_program import read_program, user_line
from inspect_compile.origins.graph_texts import CPP_CODE

_AOTI: Final = re.compile(r"(?:^|/)data/aotinductor/([^/]+)/(?:[^/]+/)*([^/]+)$")
_PROGRAM: Final = re.compile(r"(?:^|/)models/([^/]+)\.json$|(?:^|/)serialized_exported_program\.json$")
"""The second is of torch before 2.8."""
_WEIGHTS: Final = re.compile(r"(?:^|/)(?:data/)?(weights|constants|sample_inputs|extra)/")
_WRAPPER: Final = re.compile(r"^\s*void AOTInductorModel::run_impl\($", re.MULTILINE)
_INFORMATION: Final = "kernel_information.json"
_KINDS: Final = {
    ".cpp": "C++ code", ".so": "library", ".cubin": "machine code of a Triton kernel", ".hsaco": "machine code of a "
    "Triton kernel", ".spv": "machine code of a Triton kernel", ".json": "metadata",
}  # fmt: skip
_EXPORTED: Final = "exported graph"
_BECAME: Final = {
    "C++ code": "kernels, wrapper",
    "machine code of a Triton kernel": "binaries",
    "metadata": "artifacts",
    _EXPORTED: "nodes, symbols",
}
_MOST_MODELS: Final = 1000
_LONGEST_INFORMATION: Final = 1 << 20
"""Maximum bytes of a metadata file that is kept as it is."""


class _Package:
    """The members of a package, by what they are."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self.counted = Counted()
        self.programs: dict[str, zipfile.ZipInfo] = {}
        self.models: dict[str, dict[str, zipfile.ZipInfo]] = {}
        """Model → file → member."""
        for info in archive.infolist():
            if info.is_dir():
                continue
            aoti, program = _AOTI.search(info.filename), _PROGRAM.search(info.filename)
            if aoti is not None and len(self.models) < _MOST_MODELS:
                self.models.setdefault(aoti[1], {})[aoti[2]] = info
                ending = f".{aoti[2].rpartition('.')[2]}"
                self.counted.add(_KINDS.get(ending, "other file of a model"), info.file_size)
            elif program is not None and len(self.programs) < _MOST_MODELS:
                self.programs[program[1] or "model"] = info
                self.counted.add(_EXPORTED, info.file_size)
            else:
                weights = _WEIGHTS.search(info.filename)
                self.counted.add(weights[1].replace("_", " ") if weights else "other file", info.file_size)

    def data(self, info: zipfile.ZipInfo) -> bytes | None:
        """The contents of a member; None, which is counted, if it is too large or damaged."""
        try:
            with self._archive.open(info) as file:
                found = file.read(LONGEST_TEXT + 1)
        except DAMAGE:
            self.counted.unread["damaged"] += 1
            return None
        if len(found) > LONGEST_TEXT:
            self.counted.unread[f"longer than {LONGEST_TEXT >> 20} MiB"] += 1
            return None
        return found

    def text(self, info: zipfile.ZipInfo) -> str:
        """The same as a text, empty for None."""
        return (self.data(info) or b"").decode("utf-8", "replace")


def is_package(path: Path) -> bool:
    """Whether `path` is a `.pt2`, whatever its name."""
    try:
        with opened_zip(path) as archive:
            return any(_AOTI.search(name) or _PROGRAM.search(name) for name in archive.namelist())
    except (*DAMAGE, OSError):
        return False


def read_package(path: Path, root: Path) -> None:
    """Make the dump `root`, a new directory, of a `.pt2`. Raises DumpError and OSError."""
    root.mkdir(parents=True)
    writer = Writer(root)
    versions: dict[str, str] = {}
    notes: dict[str, None] = {}
    devices: dict[str, None] = {}
    with opened_zip(path) as archive:
        package = _Package(archive)
        for name, info in package.programs.items():
            program = read_program(_graph_name(name), package.data(info) or b"")
            for fact in program.facts:
                writer.add(fact)
            writer.add(Artifact(name=f"weights of {name}", text="\n".join(program.weights)))
            versions.update(program.versions)
            notes[program.note] = devices[program.device] = None
        for name, files in package.models.items():
            graph = _graph_name(f"{name}_aoti" if name in package.programs else name)
            devices[_write_model(writer, package, graph, files, notes)] = None
    kinds = {bool(package.programs): EXPORTED_PROGRAM, bool(package.models): AOTI_PACKAGE}
    origin = PACKAGE if package.programs and package.models else kinds[True]
    device = next((one for one in devices if one not in ("", "cpu")), "cpu")
    finish(writer, package.counted.facts(_BECAME), origin, path.name, versions, device, filter(None, notes))


def _graph_name(name: str) -> str:
    return paths.safe_name(name)


def _write_model(
    writer: Writer, package: _Package, graph: str, files: Mapping[str, zipfile.ZipInfo], notes: dict[str, None]
) -> str:
    """Write what is known of one model of AOTInductor; returns its device."""
    texts = {name: package.text(info) for name, info in files.items() if name.endswith(".cpp")}
    wrapper = next((name for name, text in texts.items() if _WRAPPER.search(text)), "")
    kernels = "\n".join(text for name, text in texts.items() if name != wrapper)
    code = read_cpp_code(graph, texts.get(wrapper, ""), kernels)
    notes[code.note] = None
    information = _information(package, files)
    plan = next((fact for fact in code.facts if isinstance(fact, MemoryPlan)), None)
    writer.add(
        Graph(
            graph=graph,
            kind="inference",
            name=graph,
            inputs=len(plan.inputs) if plan is not None else code.inputs,
            is_cpp_wrapper=True,
            device=code.device,
        )
    )
    writer.add(GraphEnd(graph=graph, status="compiled", seconds=0.0))
    for fact in code.facts:
        writer.add(_with_lines(fact, information) if isinstance(fact, Kernel) else fact)
    folder = paths.graph_folder(graph)
    if wrapper:
        writer.text(f"{folder}/{CPP_CODE}", texts[wrapper])
    for name, text in code.sources:
        writer.text(f"{folder}/{name}", text)
    for binary in code.binaries:
        _write_binary(writer, package, graph, binary, files)
    for artifact in _artifacts(package, graph, files, texts.get(wrapper, "")):
        writer.add(artifact)
    return code.device


def _artifacts(package: _Package, graph: str, files: Mapping[str, zipfile.ZipInfo], wrapper: str) -> Iterator[Artifact]:
    weights = [f"{name or own}  {dtype}  {size:,} bytes" for name, own, dtype, size in constants_of(wrapper)]
    if weights:
        yield Artifact(name=f"weights of {graph}", text="\n".join(weights))
    for name, info in files.items():
        if name.endswith(".json") and name != _INFORMATION and info.file_size <= _LONGEST_INFORMATION:
            yield Artifact(name=name[-100:], text=package.text(info))


def _write_binary(
    writer: Writer, package: _Package, graph: str, binary: LoadedBinary, files: Mapping[str, zipfile.ZipInfo]
) -> None:
    """What is known of the machine code of a Triton kernel; AMD's and Intel's are not read."""
    data = package.data(files[binary.file]) if binary.file in files else None
    stage = binary.file.rpartition(".")[2]
    label = f"w{binary.num_warps}" if binary.num_warps is not None else "only"
    folder = paths.kernel_folder(graph, binary.kernel)
    path = f"{folder}/{label}/{folder.rpartition('/')[2]}.{paths.safe_name(stage)}"
    known = of_cubin(data) if data is not None and stage == "cubin" else None
    if data is not None:
        writer.file(f"{paths.graph_folder(graph)}/{path}", data)
    writer.add(
        Binary(
            graph=graph,
            kernel=binary.kernel,
            label=label,
            num_warps=binary.num_warps,
            stages=() if data is None else (Stage(paths.safe_name(stage), path, len(data)),),
            registers=None if known is None else known.registers,
            spills=None if known is None else known.stack,
            shared=binary.shared,
            left_out="" if data is not None else "its machine code is in the library of the package",
        )
    )


def _information(package: _Package, files: Mapping[str, zipfile.ZipInfo]) -> dict[str, list[dict[str, Any]]]:
    """What torch wrote about the calls of each kernel (`INDUCTOR_PROVENANCE=1`), in order: FX nodes and lines."""
    info = files.get(_INFORMATION)
    try:
        found = msgspec.json.decode(package.data(info) or b"{}") if info is not None else {}
    except (ValueError, RecursionError):  # also of bytes that are no UTF-8
        return {}
    known: dict[str, list[dict[str, Any]]] = {}
    for key, value in found.items() if isinstance(found, dict) else ():
        if isinstance(value, dict):
            known.setdefault(key.partition(":")[0], []).append(value)
    return known


def _with_lines(kernel: Kernel, information: dict[str, list[dict[str, Any]]]) -> Fact:
    """The kernel with its FX nodes and lines: of an extern kernel each call is a row of its own."""
    calls = information.get(kernel.name, [])
    own = [calls.pop(0)] if kernel.kind == "extern" and calls else calls
    lines = [line for one in own for trace in _texts(one, "stack_traces") if (line := user_line(trace)) is not None]
    nodes = [node for one in own for node in _texts(one, "post_grad_nodes")]
    return replace(kernel, nodes=tuple(dict.fromkeys(nodes)), lines=tuple(dict.fromkeys(lines))) if own else kernel


def _texts(found: Mapping[str, Any], name: str) -> Sequence[str]:
    values = found.get(name)
    return [value for value in values if isinstance(value, str)] if isinstance(values, list) else []

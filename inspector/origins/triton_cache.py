"""Triton's cache of compiled kernels: a folder for each, with its metadata and its text at every stage."""

import re
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec

from inspect_compile.dump import paths
from inspect_compile.dump.files import LONGEST_TEXT, file_inside
from inspect_compile.dump.writer import Writer
from inspect_compile.facts import Binary, Graph, Kernel, Location, Stage
from inspect_compile.knowledge.kernels.resources import Resources, of_amdgcn, of_cubin
from inspect_compile.knowledge.origins import TRITON_CACHE
from inspect_compile.origins.counted_files import Counted, finish

GRAPH: Final = "triton_kernels"
"""Kernels of which no graph is known are in one of this name."""
STAGES: Final = ("ttir", "ttgir", "llir", "ptx", "amdgcn", "cubin", "hsaco")
"""In the order in which they are made."""
_DATA: Final = ("cubin", "hsaco")
"""Those that are no text."""
_GROUP: Final = "__grp__"
_METADATA: Final = ".json"
_KEY: Final = re.compile(r"[A-Z2-7]{52}|[0-9a-f]{64}")
_DEVICE: Final = re.compile(r"\d{1,3}")
"""Inductor's cache has a folder for each device."""
MOST_KERNELS: Final = 20_000
_MOST_FILES: Final = 200
"""Maximum number of files of one kernel that are looked at."""
_LARGEST_METADATA: Final = 1 << 20
NAME: Final = re.compile(r"[A-Za-z_]\w{0,300}")
_WHERE: Final = re.compile(r'^#loc\d* = loc\("([^"\n]{1,4096})":(\d{1,9}):\d+\)', re.MULTILINE)
_LOOKED_AT: Final = 20_000
"""Characters at a text's beginning that have the place of its function."""
_INDUCTOR: Final = re.compile(r"c[a-z2-7]{51}\.py")
_FORMS: Final = {
    "poi": "pointwise",
    "red": "reduction",
    "per": "persistent reduction",
    "for": "foreach",
    "tem": "template",
}
_DEVICES: Final = {"cuda": "cuda", "hip": "cuda", "xpu": "xpu", "cpu": "cpu"}
"""Triton's name of a kind of device → torch's."""
_FORM: Final = re.compile(r"triton_(poi|red|per|for|tem)_")


class Compiled(NamedTuple):
    """One kernel of the cache."""

    key: str
    """Triton's hash of what it was compiled from and with: the name of its folder."""
    name: str
    metadata: Mapping[str, Any]
    stages: Mapping[str, bytes]
    where: Location | None
    """The line of its function in the Python source."""


BECAME: Final = {"compiled Triton kernel": "kernels, binaries"}


def is_triton_cache(path: Path) -> bool:
    """Whether `path` is Triton's cache, one device's part of it in Inductor's cache, or the folder of one kernel."""
    return path.is_dir() and next(_folders(path), None) is not None


def _folders(path: Path) -> Iterator[Path]:
    """The folders of kernels."""
    if _is_kernel(path):
        yield path
        return
    for folder in _inside(path):
        if _DEVICE.fullmatch(folder.name):
            yield from filter(_is_kernel, _inside(folder))
        elif _is_kernel(folder):
            yield folder


def _inside(path: Path) -> Iterator[Path]:
    try:
        found = sorted(entry for entry in islice(path.iterdir(), MOST_KERNELS) if entry.is_dir())
    except OSError:
        return
    yield from (entry for entry in found if paths.inside(path, entry))


def _is_kernel(folder: Path) -> bool:
    return _KEY.fullmatch(folder.name) is not None and any(
        path.name.removeprefix(f"{path.stem}.") in STAGES for path in _files(folder)
    )


def _files(folder: Path) -> list[Path]:
    try:
        return sorted(islice(folder.iterdir(), _MOST_FILES))
    except OSError:
        return []


def kernels_of(path: Path, counted: Counted) -> Iterator[Compiled]:
    """The kernels of a cache, or of a folder with one for each device, one at a time."""
    for folder in islice(_folders(path), MOST_KERNELS):
        yield from _kernels(folder, counted)


def _kernels(folder: Path, counted: Counted) -> Iterator[Compiled]:
    files = {path.name: path for path in _files(folder)}
    for path in files.values():
        name = path.name.removesuffix(_METADATA)
        if name == path.name or not any(f"{name}.{stage}" in files for stage in STAGES):
            if not path.name.startswith(_GROUP) and path.suffix.removeprefix(".") not in (*STAGES, "source"):
                counted.add("other file of Triton", _size(path))
            continue
        metadata = _metadata(folder, path)
        if metadata is None or not NAME.fullmatch(name):
            counted.unread["file that is not the metadata of a Triton kernel"] += 1
            continue
        stages = {stage: data for stage in STAGES if (data := _data(folder, folder / f"{name}.{stage}"))}
        counted.add("compiled Triton kernel", sum(map(len, stages.values())))
        yield Compiled(folder.name, name, metadata, stages, _where(stages.get("ttir", b"")))


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _data(root: Path, path: Path) -> bytes:
    """A file's contents; empty if there is none, or it is too large."""
    file = file_inside(root, path)
    if file is None:
        return b""
    try:
        with file:
            data = file.read(LONGEST_TEXT + 1)
    except OSError:
        return b""
    return data if len(data) <= LONGEST_TEXT else b""


def _metadata(root: Path, path: Path) -> dict[str, Any] | None:
    data = _data(root, path)
    try:
        found = msgspec.json.decode(data) if len(data) <= _LARGEST_METADATA else None
    except (ValueError, RecursionError):  # also of bytes that are no UTF-8
        return None
    return found if isinstance(found, dict) else None


def _where(ttir: bytes) -> Location | None:
    """The line of the kernel's function."""
    found = _WHERE.search(ttir[:_LOOKED_AT].decode("utf-8", "replace"))
    return None if found is None else Location(found[1], int(found[2]))


def binary_of(
    graph: str,
    kernel: str,
    compiled: Compiled,
    config: Mapping[str, int | str] | None = None,
    *,
    is_remembered: bool = False,
) -> tuple[Binary, dict[str, bytes]]:
    """The fact about one kernel of the cache, and its files: path in the graph's folder → contents.

    `config`: its block sizes, where another file has them: the cache itself has a key for each instead.
    """
    known = compiled.metadata
    values = {"num_warps": _count(known, "num_warps"), "num_stages": _count(known, "num_stages")}
    words = [f"{name}{paths.cased_name(str(value))}" for name, value in (config or {}).items()]
    words += [f"{letter}{value}" for letter, value in zip("ws", values.values(), strict=True) if value is not None]
    label = paths.safe_name("-".join((*words, compiled.key[:8].lower())))
    resources = _resources(compiled.stages)
    shared = _count(known, "shared")
    folder = paths.kernel_folder(graph, kernel)
    stem = f"{folder}/{label}/{folder.rpartition('/')[2]}"
    files = {f"{stem}.{stage}": data for stage, data in compiled.stages.items()}
    fact = Binary(
        graph=graph,
        kernel=kernel,
        label=label,
        config=dict(config or {"key": compiled.key[:8]}),
        num_warps=values["num_warps"],
        num_stages=values["num_stages"],
        num_ctas=_count(known, "num_ctas"),
        target=target_of(known),
        is_remembered=is_remembered,
        stages=tuple(
            Stage(stage, path, len(data)) for (stage, data), path in zip(compiled.stages.items(), files, strict=True)
        ),
        registers=resources.registers,
        allocated_registers=resources.allocated_registers,
        scalar_registers=resources.scalar_registers,
        spills=resources.stack,
        shared=None if shared is None else shared + resources.shared,
        left_out="" if compiled.stages else "its files cannot be read",
    )
    return fact, files


def _resources(stages: Mapping[str, bytes]) -> Resources:
    if "cubin" in stages:
        return of_cubin(stages["cubin"])
    return of_amdgcn(stages["amdgcn"].decode("utf-8", "replace")) if "amdgcn" in stages else Resources()


def target_of(metadata: Mapping[str, Any]) -> str:
    """The architecture, `sm_90`, `gfx942`; empty if it is not known."""
    target = metadata.get("target")
    arch = target.get("arch") if isinstance(target, dict) else None
    if type(arch) is int and 0 < arch < 10_000:
        return f"sm_{arch}"
    return arch[:40].partition(":")[0] if isinstance(arch, str) else ""


def device_of(metadata: Mapping[str, Any]) -> str:
    """torch's name of the device that it runs on; empty if it is not known."""
    target = metadata.get("target")
    backend = target.get("backend") if isinstance(target, dict) else None
    return _DEVICES.get(backend, "") if isinstance(backend, str) else ""


def _count(metadata: Mapping[str, Any], name: str) -> int | None:
    found = metadata.get(name)
    return found if type(found) is int and 0 <= found < 1 << 31 else None


class GraphlessKernels:
    """Writes kernels of which nothing says in which graph they are."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._places: dict[str, dict[Location, None]] = {}
        self._devices: dict[str, None] = {}
        self._sources: dict[str, str] = {}
        """Kernel → path of its source."""

    def add(self, compiled: Compiled, config: Mapping[str, int | str] | None = None, source: str = "") -> None:
        """One compiled kernel, with its stages and, if it is known, its Python source."""
        if source and compiled.name not in self._sources:
            path = f"{paths.kernel_folder(GRAPH, compiled.name)}/source.py"
            self._writer.text(f"{paths.graph_folder(GRAPH)}/{path}", source)
            self._sources[compiled.name] = path
        places = self._places.setdefault(compiled.name, {})
        if compiled.where is not None:
            places[compiled.where] = None
        self._devices[device_of(compiled.metadata)] = None
        write_binary(self._writer, GRAPH, compiled.name, compiled, config)

    def done(self) -> str:
        """The kernels themselves; returns their device, empty if it is not known."""
        device = next(filter(None, self._devices), "")
        if self._places:
            self._writer.add(Graph(graph=GRAPH, kind="kernels", name=GRAPH, device=device))
        for name, places in self._places.items():
            self._writer.add(_kernel(name, tuple(places), device, self._sources.get(name, "")))
        return device


def write_binary(
    writer: Writer,
    graph: str,
    kernel: str,
    compiled: Compiled,
    config: Mapping[str, int | str] | None = None,
    *,
    is_remembered: bool = False,
) -> None:
    """Write one compiled kernel as one of `graph`."""
    fact, files = binary_of(graph, kernel, compiled, config, is_remembered=is_remembered)
    writer.add(fact)
    for name, data in files.items():
        writer.file(f"{paths.graph_folder(graph)}/{name}", data)


def read_triton_cache(path: Path, root: Path) -> None:
    """Make the dump `root`, a new directory, of Triton's cache. Raises DumpError and OSError."""
    root.mkdir(parents=True)
    writer, counted = Writer(root), Counted()
    kernels, versions = GraphlessKernels(writer), dict[str, str]()
    for compiled in kernels_of(path, counted):
        kernels.add(compiled)
        versions.update(version_of(compiled.metadata))
    device = kernels.done()
    finish(writer, counted.facts(BECAME), TRITON_CACHE, path.name, versions, device)


def version_of(metadata: Mapping[str, Any]) -> dict[str, str]:
    """Triton's version, if it says so."""
    found = metadata.get("triton_version")
    return {"triton": found[:40]} if isinstance(found, str) else {}


def _kernel(name: str, lines: tuple[Location, ...], device: str, source: str) -> Kernel:
    """A kernel of which only Triton's cache is there."""
    is_inductors = any(_INDUCTOR.fullmatch(Path(line.file).name) for line in lines)
    form = _FORM.match(name) if is_inductors else None
    return Kernel(
        graph=GRAPH,
        name=name,
        kind="triton" if is_inductors else "user_triton",
        form=_FORMS[form[1]] if form else "" if is_inductors else "user-written",
        device=device,
        source=source,
        path=lines[0].file if is_inductors else "",
        lines=() if is_inductors else lines,
    )

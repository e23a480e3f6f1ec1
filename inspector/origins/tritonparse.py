"""Logs of tritonparse: one JSON object a line, for each compile and each launch of a Triton kernel."""

import ast
import re
import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any, Final

import msgspec

from inspect_compile.dump.files import LONGEST_TEXT, plain_file
from inspect_compile.dump.writer import Writer
from inspect_compile.facts import Artifact, Location
from inspect_compile.knowledge.origins import TRITONPARSE
from inspect_compile.origins.counted_files import Counted, finish
from inspect_compile.origins.python_text import NotReadError, parsed
from inspect_compile.origins.triton_cache import (
    MOST_KERNELS,
    NAME,
    STAGES,
    Compiled,
    GraphlessKernels,
    version_of,
)

_KINDS: Final = frozenset({"compilation", "launch", "launch_diff", "ir_analysis", "autotune_analysis"})
"""Records of which one, as the first, tells that a file is such a log."""
_BECAME: Final = {"compilation": "kernels, binaries", "launch": "artifacts", "autotune_analysis": "artifacts"}
_ENDINGS: Final = (".ndjson", ".json", ".log", ".jsonl")
_KEY: Final = re.compile(r"/([A-Z2-7]{52}|[0-9a-f]{64})/[^/]*$")
_PLACE: Final = re.compile(r"\((\d{1,4}),?\)")
_LONGEST_CODE: Final = 400_000
"""Maximum characters of a kernel's Python source."""
_MOST_GRIDS: Final = 20
"""Maximum number of grids of a kernel that are told."""


def is_tritonparse_log(path: Path) -> bool:
    """Whether the file `path` is a log of tritonparse, raw or parsed."""
    if not path.is_file() or not path.name.endswith(_ENDINGS):
        return False
    file = plain_file(path)
    if file is None:
        return False
    with file:
        first = file.readline(LONGEST_TEXT)
    return _event(_decoded(first)) in _KINDS


def _decoded(line: bytes) -> dict[str, Any]:
    try:
        found = msgspec.json.decode(line)
    except (ValueError, RecursionError):  # also of bytes that are no UTF-8
        return {}
    return found if isinstance(found, dict) else {}


def _event(record: Mapping[str, Any]) -> str:
    kind = record.get("event_type")
    return kind[:60] if isinstance(kind, str) else ""


def _records(file: IO[bytes], counted: Counted) -> Iterator[dict[str, Any]]:
    while line := file.readline(LONGEST_TEXT + 1):
        if len(line) > LONGEST_TEXT:
            counted.unread["too long"] += 1
            while line and not line.endswith(b"\n"):
                line = file.readline(LONGEST_TEXT)
            continue
        record = _decoded(line)
        if kind := _event(record):
            counted.add(kind, len(line))
            yield record
        elif line.strip():
            counted.unread["no record of tritonparse"] += 1


def read_tritonparse_log(path: Path, root: Path) -> None:
    """Make the dump `root`, a new directory, of a log of tritonparse. Raises DumpError and OSError."""
    root.mkdir(parents=True)
    writer, counted = Writer(root), Counted(what="lines")
    kernels, versions = GraphlessKernels(writer), dict[str, str]()
    launches: dict[str, Counter[str]] = {}
    seen: set[tuple[str, str]] = set()
    file = plain_file(path)
    if file is None:
        raise OSError("not a plain file that can be read")
    with file:
        for record in _records(file, counted):
            kind = _event(record)
            if kind == "launch" and isinstance(name := record.get("name"), str) and len(launches) < MOST_KERNELS:
                launches.setdefault(name[:300], Counter())[_grid(record.get("grid"))] += 1
            elif kind == "autotune_analysis" and isinstance(winner := record.get("winner_compilation_hash"), str):
                writer.add(Artifact(name="fastest configuration", text=f"{record.get('name')}: {winner}"[:1000]))
            if kind != "compilation" or len(seen) >= MOST_KERNELS:
                continue
            compiled, source, config = _compiled(record)
            if compiled is None:
                counted.unread["compile whose kernel is not known"] += 1
            elif (compiled.key, compiled.name) not in seen:  # a log tells of each use of Triton's cache
                seen.add((compiled.key, compiled.name))
                kernels.add(compiled, config, source)
                versions.update(version_of(compiled.metadata))
    device = kernels.done()
    if launches:
        texts = [f"{name}: {_launched(grids)}" for name, grids in launches.items()]
        writer.add(Artifact(name="launches", text="\n".join(texts)))
    finish(writer, counted.facts(_BECAME), TRITONPARSE, path.name, versions, device)


def _grid(found: object) -> str:
    sizes = found[:3] if isinstance(found, list) else []
    return " × ".join(str(size)[:20] for size in sizes) or "not known"


def _launched(grids: Counter[str]) -> str:
    count = sum(grids.values())
    words = [f"{grid} ({number:,})" for grid, number in grids.most_common(_MOST_GRIDS)]
    more = f", {len(grids) - len(words):,} more" if len(grids) > len(words) else ""
    return f"{count:,} launches, grids {', '.join(words)}{more}"


def _compiled(record: dict[str, Any]) -> tuple[Compiled | None, str, dict[str, int | str]]:
    """A compiled kernel, its Python source, and its block sizes."""
    payload = _dict(record, "payload")
    metadata, contents, source = (_dict(payload, name) for name in ("metadata", "file_content", "python_source"))
    name = metadata.get("name")
    if not isinstance(name, str) or not NAME.fullmatch(name):
        return None, "", {}
    stages = {
        stage: text.encode("utf-8", "backslashreplace")
        for stage in STAGES
        if isinstance(text := contents.get(f"{name}.{stage}"), str) and stage not in ("cubin", "hsaco")
    }
    file, line, code = source.get("file_path"), source.get("start_line"), source.get("code")
    text = textwrap.dedent(code) if isinstance(code, str) and len(code) <= _LONGEST_CODE else ""
    where = Location(file, line) if isinstance(file, str) and type(line) is int and 0 <= line < 1 << 31 else None
    found = Compiled(_key(payload, metadata), name, metadata, stages, where)
    return found, text, _sizes(_dict(metadata, "src_constants"), text, name)


def _dict(found: Mapping[str, Any], name: str) -> dict[str, Any]:
    inner = found.get(name)
    return inner if isinstance(inner, dict) else {}


def _key(payload: dict[str, Any], metadata: dict[str, Any]) -> str:
    """The name of the kernel's folder in Triton's cache, else its hash."""
    for path in _dict(payload, "file_path").values():
        if isinstance(path, str) and (key := _KEY.search(path[-1000:])) is not None:
            return key[1]
    found = metadata.get("hash")
    return found[:64] if isinstance(found, str) else ""


def _sizes(constants: dict[str, Any], source: str, kernel: str) -> dict[str, int | str]:
    """What the source was compiled with: its `tl.constexpr` parameters, which the log has by position."""
    names = _constexprs(source, kernel)
    sizes: dict[str, int | str] = {}
    for key, value in constants.items():
        place = _PLACE.fullmatch(key)
        name = names.get(int(place[1])) if place is not None else None
        if name is not None and (isinstance(value, str) or (type(value) is int and abs(value) < 1 << 62)):
            sizes[name] = value[:100] if isinstance(value, str) else value
    return sizes


def _constexprs(source: str, kernel: str) -> dict[int, str]:
    """Position → name of the parameters that are `tl.constexpr`."""
    try:
        module, _ = parsed(source)
    except NotReadError:
        return {}
    functions = [one for one in module.body if isinstance(one, ast.FunctionDef)]
    function = next((one for one in functions if one.name == kernel), functions[0] if functions else None)
    arguments = function.args.args if function is not None else []
    return {
        place: one.arg
        for place, one in enumerate(arguments)
        if isinstance(one.annotation, (ast.Attribute, ast.Name))
        and (one.annotation.attr if isinstance(one.annotation, ast.Attribute) else one.annotation.id) == "constexpr"
    }

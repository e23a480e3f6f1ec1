"""Is a right program accused? `python3 benchmarks/accusations.py [--device cuda] [--dtypes bfloat16 …] [--only NAME …]`

Runs `inspect-compile numerics` on programs of which nothing should be wrong: the public reports of `tests/reports` that
are right, the samples, the models of the tests with random weights, and families that the tests have not; several at a
time, in each dtype. For each a line is printed with how many results were compared, what was found, and what makes no
sense: `wrong` results, calls that were not checked, programs that fail; then how many programs of each kind there were.
All share one cache of compiled kernels. JSON (`--out`) has the rows that are wrong or worse than eager. A program that
fails alone in that dtype, too, is marked so.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from inspect_compile.graph import Graphs

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
try:
    import inspect_compile  # noqa: F401
except ModuleNotFoundError:  # not installed: as this tree has it
    sys.path.insert(0, str(ROOT / "build" / "typing"))

sys.path.insert(0, str(ROOT))
from benchmarks.fidelity import OF_MODELS, ON_GPU, OTHERS  # noqa: E402
from inspect_compile.analysis.numerics.verdicts import Judged, judged, summary  # noqa: E402
from inspect_compile.dump import Dump  # noqa: E402
from inspect_compile.knowledge.numerics.verdicts import WORSE, WRONG  # noqa: E402
from tests.reports.reports import RIGHT  # noqa: E402
from tests.warm import Interpreters  # noqa: E402

MORE = {
    f"{name}-{kind}": (str(HERE / "programs" / "families.py"), name, kind)
    for name in ("falcon", "xlnet", "hubert")
    for kind in ("inference", "training")
}
REPORTED = {
    report.program: (str(ROOT / "tests" / "reports" / "programs" / f"{report.program}.py"),) for report in RIGHT
}
SAMPLES = {name: words for name, words in OTHERS.items() if (ROOT / "samples" / f"{name}.py").exists()}
KINDS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "reports": REPORTED,
    "samples": SAMPLES,
    "models": {**OF_MODELS, **MORE},
}
PROGRAMS = {name: words for kind in KINDS.values() for name, words in kind.items()}
DTYPES = ("float32", "bfloat16", "autocast")


class _Warm(threading.local):
    """Those of one job."""

    def __init__(self) -> None:
        self.interpreters = Interpreters()


_WARM = _Warm()


def main() -> None:
    """Check what was asked for."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"))
    parser.add_argument("--dtypes", nargs="+", default=DTYPES, choices=DTYPES)
    parser.add_argument("--only", nargs="+", default=list(PROGRAMS), metavar="NAME")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--seconds", type=float, default=240, help="of one program")
    parser.add_argument("--until", type=float, default=3600, help="seconds after which no further program is begun")
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args()
    began = time.monotonic()
    todo = [(name, dtype) for name in asked.only for dtype in asked.dtypes]
    found: list[dict[str, Any]] = []

    def one(name: str, dtype: str) -> None:
        if time.monotonic() - began > asked.until:
            return
        row = checked(name, dtype, asked.device, asked.seconds, cache)
        found.append(row)
        print(line(row), flush=True)
        if asked.out:
            asked.out.write_text("".join(json.dumps(row) + "\n" for row in found))

    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as cache, ThreadPoolExecutor(asked.jobs) as pool:
        for job in [pool.submit(one, *each) for each in todo]:
            job.result()
    print(table(found))
    if len(found) < len(todo):
        print(f"{len(found)} of {len(todo)} programs run")


def table(found: Sequence[dict[str, Any]]) -> str:
    """How many programs there were of each kind, and what was found of them."""
    heads = ("programs", "ran to their end", "status 0", "status 3", "worse than eager", "accused", "compared")
    groups: dict[tuple[str, str, str], list[dict[str, Any]]] = {}
    for row in found:
        kind = next(kind for kind, programs in KINDS.items() if row["name"] in programs)
        groups.setdefault((kind, row.get("mode", ""), row["dtype"]), []).append(row)
    lines: list[tuple[str, ...]] = [("", "", "", *heads)]
    for group, rows in [*sorted(groups.items()), (("all", "", ""), list(found))]:
        results, compared = (sum(row.get(key, 0) for row in rows) for key in ("results", "compared"))
        counts = (
            len(rows),
            sum(not row["failed"] for row in rows),
            *(sum(row.get("status") == status and not row["failed"] for row in rows) for status in (0, 3)),
            *(sum(bool(row[key]) for row in rows) for key in ("worse", "wrong")),
        )
        lines.append((*group, *map(str, counts), f"{compared} of {results} results"))
    return "\n".join(f"| {' | '.join(line)} |" for line in (lines[0], ("---",) * len(lines[0]), *lines[1:]))


def checked(name: str, dtype: str, device: str, seconds: float, cache: str) -> dict[str, Any]:
    """What `numerics` found of one program."""
    row: dict[str, Any] = {"name": name, "dtype": dtype, "device": device, "wrong": [], "worse": [], "failed": ""}
    words = [*PROGRAMS[name], *(ON_GPU.get(name, ()) if device == "cuda" else ())]
    programs = HERE / "programs"
    command = [str(programs / "on_device.py"), device, str(programs / "in_dtype.py"), dtype, device, *words]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        began = time.monotonic()
        done = _run(["-m", "inspect_compile", "numerics", "--dump", "dump", *command], folder, seconds, cache)
        row["seconds"] = time.monotonic() - began
        if done is None:
            return {**row, "failed": "takes too long"}
        row["status"], row["said"] = done.returncode, done.stderr[-2000:]
        dump = Dump(Path(folder, "dump"))
        if not dump.root.exists():
            return {**row, "failed": "no dump"}
        row["mode"] = "training" if any(graph.kind == "backward" for graph in dump.outermost()) else "inference"
        found = summary(Graphs(dump))
        row |= {"results": found.results, "compared": found.compared, "verdicts": found.verdicts}
        row |= {"reasons": found.reasons, "trouble": [str(call.reason) for call in found.trouble]}
        rows = list(judged(Graphs(dump)))
        row["wrong"] = [_shown(each) for each in rows if each.verdict == WRONG]
        row["worse"] = [_shown(each) for each in rows if each.verdict == WORSE]
        if dump.run.exit_code:
            alone = _run(command, folder, seconds, cache)
            status = alone.returncode if alone else "no"
            row["failed"] = f"exit status {dump.run.exit_code}, alone {status}"
    return row


def line(row: dict[str, Any]) -> str:
    """One program, for people."""
    said = [f"{row.get('compared', 0)} of {row.get('results', 0)} compared, {row['seconds']:.0f} s"]
    for key in ("worse", "wrong"):
        if row[key]:
            said.append(
                f"{len(row[key])} {key}: {row[key][0]['node']} in {row[key][0]['kernel'] or row[key][0]['level']}"
            )
    if row.get("trouble"):
        said.append(f"not checked: {row['trouble'][0][:100]}")
    if row["failed"]:
        said.append(f"fails: {row['failed']}")
    return f"{row['name']} {row['dtype']} {row['device']}: " + " · ".join(said)


def _shown(row: Judged) -> dict[str, Any]:
    numbers = {name: str(getattr(row.measured, name)) for name in row.measured.__struct_fields__}
    return {"node": row.node, "kernel": row.kernel, "level": row.level, "graph": row.graph, "measured": numbers}


def _run(words: list[str], folder: str, seconds: float, cache: str) -> subprocess.CompletedProcess[str] | None:
    """Where there is no GPU in an interpreter that has loaded torch already, which saves most of the time."""
    more = {"OMP_NUM_THREADS": "1", "TORCHINDUCTOR_COMPILE_THREADS": "1", "TORCHINDUCTOR_CACHE_DIR": cache}
    words, environment = [sys.executable, *words], {**os.environ, **more}
    try:
        done = _WARM.interpreters.run(words, Path(folder), environment, "", seconds)
        return done or subprocess.run(
            words, cwd=folder, env=environment, capture_output=True, text=True, timeout=seconds, check=False
        )
    except subprocess.TimeoutExpired:
        return None


if __name__ == "__main__":
    main()

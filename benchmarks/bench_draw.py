"""How long a schedule takes to draw, by the number of scheduler nodes: CPU seconds of our code and of `dot`, folded and
with a box for each operation; and the other kinds of pictures.

    python benchmarks/bench_draw.py [--gpt2] [DUMP …]

Without a DUMP, dumps of the pattern that GPT-2 leaves on a CPU, of 143, 1,000, 3,000 and 10,000 scheduler nodes after
fusion, and a run of two ranks that differ. `--gpt2`: GPT-2 of 12, 48 and 96 layers, recorded now.
"""

import argparse
import gc
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple

from inspect_compile.graph import Graphs

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from inspect_compile.diagrams.kinds.every import KINDS
from inspect_compile.diagrams.kinds.kind import Drawn, Wanted
from inspect_compile.diagrams.render import svg
from inspect_compile.dump import Dump, open_dump
from inspect_compile.facts import Kernel, KernelBody, Node, Operation
from tests.diagrams.transformer import write_transformer

LAYERS: Final = (12, 86, 260, 870)
GPT2_LAYERS: Final = (12, 48, 96)
REPEATS: Final = 3
SECONDS: Final = 600.0
"""How long `dot` may take."""


class _Spent(NamedTuple):
    """CPU seconds."""

    ours: float
    dot: float
    megabytes: float
    boxes: int


def wanted(dump: Dump) -> list[tuple[str, str, Wanted]]:
    """Words for it, kind, and what is chosen of it."""
    names = [row.name for row in dump.rows(Node) if row.stage == "post_grad" and row.op.startswith("call")]
    statements: dict[str, int] = {}
    for row in dump.rows(KernelBody):
        statements[row.kernel] = statements.get(row.kernel, 0) + len(row.statements)
    largest = max(statements, key=statements.__getitem__, default="")
    operations = [row.name for row in dump.rows(Operation) if row.phase == "pre_fusion"]
    found = [
        ("schedule before", "schedule", Wanted(phases=("pre_fusion",))),
        ("schedule after", "schedule", Wanted(phases=("post_fusion",))),
        ("schedule after, unfolded", "schedule", Wanted(phases=("post_fusion",), fold=False)),
        ("findings", "schedule", Wanted(findings=True)),
        ("fusion", "fusion", Wanted()),
        ("fx", "fx", Wanted()),
        ("dynamo", "dynamo", Wanted()),
        ("memory", "memory", Wanted()),
    ]
    if len(operations) > 40:
        way = (operations[0], operations[40])
        found.append(("path", "schedule", Wanted(phases=("post_fusion",), path=way)))
    if names:
        found.append(("node", "node", Wanted(name=names[len(names) // 2])))
    if largest and any(row.name == largest for row in dump.rows(Kernel)):
        found.append((f"kernel of {statements[largest]} statements", "kernel", Wanted(name=largest)))
    return found


def spent(root: Path, kind: str, of: Wanted) -> _Spent:
    """One drawing, from opening the dump on, as the command does it: without collecting garbage."""
    before, children = time.process_time(), _children()
    dump = open_dump(root)
    graphs = [] if KINDS[kind].is_of_run else list(Graphs(dump))
    found = [one for one in KINDS[kind].draw(dump, graphs, of) if isinstance(one, Drawn)]
    drawn = [svg(one.text, SECONDS) if one.form == "dot" else one.text for one in found]
    ours, dot = time.process_time() - before, _children() - children
    return _Spent(ours, dot, sum(map(len, drawn)) / 1e6, sum(text.count('<g id="') for text in drawn))


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def measure(name: str, root: Path, choices: list[tuple[str, str, Wanted]]) -> None:
    for told, kind, of in choices:
        best = min((spent(root, kind, of) for _ in range(REPEATS)), key=lambda one: one.ours + one.dot)
        figures = f"{best.ours:8.2f}{best.dot:8.2f}{best.ours + best.dot:8.2f}{best.megabytes:8.2f}"
        print(f"{name:<18}{told:<30}{best.boxes:>7}{figures}", flush=True)


def measure_dump(root: Path) -> None:
    dump = open_dump(root)
    nodes = sum(row.phase == "post_fusion" for row in dump.rows(Operation))
    measure(f"{nodes:,} nodes", root, wanted(dump))


def measure_ranks(root: Path) -> None:
    """Two ranks, of which one has a layer more."""
    write_transformer(root / "rank_0", 12)
    write_transformer(root / "rank_1", 13)
    (root / "run.json").write_bytes((root / "rank_0" / "run.json").read_bytes())
    measure("2 ranks", root, [("ranks", "ranks", Wanted())])


def record_gpt2(layers: int) -> Callable[[Path], None]:
    def record(root: Path) -> None:
        program = str(Path(__file__).parent / "programs" / "gpt2.py")
        recorded = [sys.executable, "-m", "inspect_compile", "run", "--no-tui", "--dump", str(root)]
        command = [*recorded, program, str(layers), "cpu"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd=root.parent)
        measure_dump(root)

    return record


def synthetic(layers: int) -> Callable[[Path], None]:
    def write(root: Path) -> None:
        write_transformer(root, layers)
        measure_dump(root)

    return write


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gpt2", action="store_true", help="GPT-2 of 12, 48 and 96 layers")
    parser.add_argument("dumps", nargs="*", type=Path)
    asked = parser.parse_args()
    gc.disable()
    print(f"{'dump':<18}{'drawing':<30}  boxes    ours     dot   total      MB")
    for root in asked.dumps:
        measure_dump(root)
    if asked.dumps:
        return
    made = map(record_gpt2, GPT2_LAYERS) if asked.gpt2 else [*map(synthetic, LAYERS), measure_ranks]
    for make in made:
        with tempfile.TemporaryDirectory() as folder:
            make(Path(folder) / "dump")


if __name__ == "__main__":
    main()

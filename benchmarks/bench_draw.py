"""How long a schedule takes to draw, by the number of scheduler nodes: CPU seconds of our code and of `dot`, folded and
with a box for each operation; and the other kinds of pictures.

    python benchmarks/bench_draw.py [--gpt2] [DUMP …]

Without a DUMP, dumps of the pattern that GPT-2 leaves on a CPU, of 143, 1,000, 3,000 and 10,000 scheduler nodes after
fusion, and a run of two ranks that differ. `--gpt2`: GPT-2 of 12, 48 and 96 layers, recorded now.
"""

import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from inspect_compile.diagrams.kinds.every import KINDS
from inspect_compile.diagrams.kinds.kind import Drawn, Wanted
from inspect_compile.diagrams.render import svg
from inspect_compile.diagrams.schedule.schedule import PHASES, schedule_dot, schedule_picture
from inspect_compile.dump import open_dump
from inspect_compile.facts import Operation
from tests.diagrams.transformer import write_transformer

LAYERS = (12, 86, 260, 870)
LARGEST_UNFOLDED = 5000
OTHERS = (
    ("schedule", Wanted(findings=True)),
    ("schedule", Wanted(phases=("post_fusion",), path=("op0", "op40"))),
    ("fusion", Wanted()),
    ("fx", Wanted()),
    ("node", Wanted(name="op9")),
    ("memory", Wanted()),
)
REPEATS = 3


def measure(root: Path) -> None:
    nodes = sum(row.phase == "post_fusion" for row in open_dump(root).rows(Operation))
    for fold in (True, False) if nodes <= LARGEST_UNFOLDED else (True,):
        measure_form(root, fold=fold)


def measure_form(root: Path, *, fold: bool) -> None:
    for phase in PHASES:
        texts, drawings = [], []
        for _ in range(REPEATS):
            started = time.perf_counter()
            dump = open_dump(root)
            graph = dump.graphs()[0].graph
            text = schedule_dot(dump, graph, phase, fold=fold)
            written = time.perf_counter()
            drawing = svg(text)
            texts.append(written - started)
            drawings.append(time.perf_counter() - written)
        picture = schedule_picture(open_dump(root), graph, phase, fold=fold)
        nodes = sum(row.phase == "post_fusion" for row in dump.rows(Operation, graph))
        boxes, arrows = len(list(picture.boxes())), len(list(picture.arrows()))
        totals = [text + drawing for text, drawing in zip(texts, drawings, strict=True)]
        seconds = "".join(f"{statistics.median(times):8.2f}" for times in (texts, drawings, totals))
        counts = f"{len(picture.sections):>9}{boxes:>7}{arrows:>8}"
        print(f"{nodes:>6}  {phase:<12}{'folded' if fold else '':<7}{counts}{seconds}{len(drawing) / 1e6:>8.1f}")


def measure_kinds(root: Path) -> None:
    """The other kinds of pictures, as they are drawn if nothing is chosen."""
    nodes = sum(row.phase == "post_fusion" for row in open_dump(root).rows(Operation))
    for kind, wanted in OTHERS:
        texts, drawings, size = [], [], 0
        for _ in range(REPEATS):
            started = time.perf_counter()
            dump = open_dump(root)
            found = [one for one in KINDS[kind].draw(dump, dump.outermost(), wanted) if isinstance(one, Drawn)]
            written = time.perf_counter()
            size = sum(len(svg(one.text)) if one.form == "dot" else len(one.text) for one in found)
            texts.append(written - started)
            drawings.append(time.perf_counter() - written)
        ours, dot = statistics.median(texts), statistics.median(drawings)
        told = " ".join((kind, "--findings" * wanted.findings, f"--path {wanted.path}" * bool(wanted.path)))
        print(f"{nodes:>6}  {told:<42}{ours:8.2f}{dot:8.2f}{ours + dot:8.2f}{size / 1e6:>8.2f}")


def main() -> None:
    print(" nodes  phase              sections  boxes  arrows    ours     dot   total      MB")
    if len(sys.argv) > 1:
        for name in sys.argv[1:]:
            measure(Path(name))
            measure_kinds(Path(name))
        return
    for layers in LAYERS:
        with tempfile.TemporaryDirectory() as folder:
            write_transformer(Path(folder) / "dump", layers)
            measure(Path(folder) / "dump")
            measure_kinds(Path(folder) / "dump")


if __name__ == "__main__":
    main()

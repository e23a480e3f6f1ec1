"""How long a schedule takes to draw, by the number of scheduler nodes: our code and `dot`, wall seconds, folded and
with a box for each operation.

    python benchmarks/bench_draw.py [DUMP …]

Without a DUMP, dumps of the pattern that GPT-2 leaves on a CPU, of 143, 1,000, 3,000 and 10,000 scheduler nodes after
fusion; the last one folded alone.
"""

import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from inspect_compile.diagrams.render import svg
from inspect_compile.diagrams.schedule.schedule import PHASES, schedule_dot, schedule_picture
from inspect_compile.dump import open_dump
from inspect_compile.facts import Operation
from tests.diagrams.transformer import write_transformer

LAYERS = (12, 86, 260, 870)
LARGEST_UNFOLDED = 5000
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


def main() -> None:
    print(" nodes  phase              sections  boxes  arrows    ours     dot   total      MB")
    if len(sys.argv) > 1:
        for name in sys.argv[1:]:
            measure(Path(name))
        return
    for layers in LAYERS:
        with tempfile.TemporaryDirectory() as folder:
            write_transformer(Path(folder) / "dump", layers)
            measure(Path(folder) / "dump")


if __name__ == "__main__":
    main()

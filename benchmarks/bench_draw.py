"""How long a schedule takes to draw, by the number of scheduler nodes: our code and `dot`, wall seconds.

    python benchmarks/bench_draw.py [DUMP …]

Without a DUMP, dumps of the pattern that GPT-2 leaves on a CPU, of 143, 1,000 and 3,000 scheduler nodes after fusion.
"""

import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from inspect_compile.diagrams.render import svg
from inspect_compile.diagrams.schedule import PHASES, schedule_dot, schedule_picture
from inspect_compile.dump import open_dump
from tests.diagrams.transformer import write_transformer

LAYERS = (12, 86, 260)
REPEATS = 3


def measure(root: Path) -> None:
    for phase in PHASES:
        texts, drawings = [], []
        for _ in range(REPEATS):
            started = time.perf_counter()
            dump = open_dump(root)
            graph = dump.graphs()[0].graph
            text = schedule_dot(dump, graph, phase)
            written = time.perf_counter()
            drawing = svg(text)
            texts.append(written - started)
            drawings.append(time.perf_counter() - written)
        picture = schedule_picture(open_dump(root), graph, phase)
        nodes = sum(row.phase == "post_fusion" for row in rows(root))
        boxes, arrows = len(list(picture.boxes())), len(list(picture.arrows()))
        median = statistics.median
        print(
            f"{nodes:>6} {phase:<12} {len(picture.sections):>8} {boxes:>6} {arrows:>7} {median(texts):>8.2f} "
            f"{median(drawings):>8.2f} {median(map(sum, zip(texts, drawings, strict=True))):>8.2f} {len(drawing) / 1e6:>7.1f}"
        )


def rows(root: Path):
    from inspect_compile.facts import Operation

    dump = open_dump(root)
    return dump.rows(Operation, dump.graphs()[0].graph)


def main() -> None:
    print(f"{'nodes':>6} {'phase':<12} {'sections':>8} {'boxes':>6} {'arrows':>7} {'ours':>8} {'dot':>8} {'total':>8} {'MB':>7}")
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

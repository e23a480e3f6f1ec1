"""What a program hears of us through Python's own hooks: nothing of our imports, nor of our garbage."""

from pathlib import Path

from tests.running import COLD, COMMAND, run

PROGRAM = """
import gc
import sys

asked = set()

class Finder:
    def find_spec(self, name, path=None, target=None):
        asked.add(name)

sys.meta_path.insert(0, Finder())
gc.set_debug(gc.DEBUG_SAVEALL)
import torch

@torch.compile
def f(x, y):
    return (torch.sin(x) @ y).softmax(-1)

f(torch.ones(6, 8, requires_grad=True), torch.ones(8, 8)).sum().backward()
gc.collect()
gc.set_debug(0)
print("asked:", sorted(name for name in asked if name.partition(".")[0] in ("inspect_compile", "msgspec", "resource")))

def is_ours(thing):
    kind = type(thing)
    return str(thing.__module__ if kind is type(is_ours) else kind.__module__).startswith("inspect_compile")

left = [thing for thing in gc.garbage if is_ours(thing)]
print("left:", sorted({str(type(thing)) for thing in left}), len(gc.garbage) > 0)
"""


def test_no_finder_is_asked_for_our_modules_and_no_garbage_is_ours(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(PROGRAM)
    done = run([*COMMAND, "run", "--no-tui", *COLD, "--dump", "dump", "script.py"], tmp_path)

    assert done.returncode == 0, done.stderr
    assert done.stdout == ("asked: []\nleft: [] True\n")
    assert "2 graphs" in done.stderr.splitlines()[-1]

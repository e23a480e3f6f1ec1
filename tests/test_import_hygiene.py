"""Each room starts without what it may not know: the import contracts once more, at run time."""

import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.conftest import DumpOf

ROOT = Path(__file__).resolve().parent.parent

COMPILER = ("torch", "triton", "sympy")
SCREEN = ("textual", "rich")
DEPENDENCIES = (*COMPILER, *SCREEN, "msgspec", "graphviz")

FORBIDDEN: dict[str, tuple[str, ...]] = {
    "inspect_compile.facts": (*COMPILER, *SCREEN),
    "inspect_compile.dump": (*COMPILER, *SCREEN),
    "inspect_compile.torch_compat": DEPENDENCIES,
    "inspect_compile.probe": (*COMPILER, *SCREEN),
    "inspect_compile.kept": (*COMPILER, *SCREEN),
    "inspect_compile.knowledge": (*COMPILER, *SCREEN),
    "inspect_compile.child": SCREEN,
    "inspect_compile.lowering": SCREEN,
    "inspect_compile.codegen": SCREEN,
    "inspect_compile.profiles": (*COMPILER, *SCREEN, "graphviz"),
    "inspect_compile.origins": (*COMPILER, *SCREEN),
    "inspect_compile.graph": (*COMPILER, *SCREEN),
    "inspect_compile.analysis": COMPILER,
    "inspect_compile.tables": COMPILER,
    "inspect_compile.contracts": COMPILER,
    "inspect_compile.testing": COMPILER,
    "inspect_compile.api": ("torch", "IPython", "pandas"),
    "inspect_compile.diagrams": COMPILER,
    "inspect_compile.finish": COMPILER,
    "inspect_compile.report": COMPILER,
    "inspect_compile.export": COMPILER,
    "inspect_compile.share": COMPILER,
    "inspect_compile.patches": (*COMPILER, *SCREEN),
    "inspect_compile.launch": COMPILER,
    "inspect_compile.commands": COMPILER,
    "inspect_compile.tui": COMPILER,
}

FOLDERS = {"inspect_compile.lowering": "lowering", "inspect_compile.codegen": "codegen", "inspect_compile.tui": "tui"}


def modules_of(room: str) -> Iterator[str]:
    folder = ROOT / FOLDERS.get(room, room.replace("inspect_compile.", "inspector/"))
    yield room
    for path in sorted(folder.rglob("*.py")):
        if path.name == "web.py" and find_spec("textual_serve") is None:
            continue  # of the extra `web`
        if path.name != "__init__.py" and (path.parent / "__init__.py").exists():
            yield ".".join([room, *path.relative_to(folder).with_suffix("").parts])


def loaded_after(code: str, *arguments: str) -> set[str]:
    """The top-level names in sys.modules after `code`, in a process of its own."""
    script = f"{code}\nimport sys; print('\\n' + ' '.join({{name.partition('.')[0] for name in sys.modules}}))"
    result = subprocess.run(
        [sys.executable, "-P", "-c", script, *arguments], capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert result.returncode == 0, result.stderr
    return set(result.stdout.rstrip().rpartition("\n")[2].split())


def test_every_room_is_listed() -> None:
    rooms = [f"inspect_compile.{path.parent.name}" for path in ROOT.glob("inspector/*/__init__.py")]
    assert sorted(FORBIDDEN) == sorted([*rooms, *FOLDERS])


@pytest.mark.parametrize("room", FORBIDDEN)
def test_room_loads_without(room: str) -> None:
    """One process for the room; it stops at the first module that brought something forbidden, and names it."""
    code = """
import importlib, sys
forbidden = sys.argv[1].split()
for module in sys.argv[2:]:
    importlib.import_module(module)
    if came := [name for name in forbidden if name in sys.modules]:
        sys.exit(f"{module} loads {came}")
"""
    loaded_after(code, " ".join(FORBIDDEN[room]), *modules_of(room))


def test_the_root_loads_nothing_of_others() -> None:
    """It is imported in each inspected process before the program."""
    assert loaded_after("import inspect_compile").isdisjoint(DEPENDENCIES)


RUN_COMMAND = """
import sys
from inspect_compile.commands import main
sys.argv[0] = "inspect-compile"
try:
    status = main()
except SystemExit as stop:
    status = stop.code
assert not status, status
"""


def test_help_needs_no_dependency() -> None:
    assert loaded_after(RUN_COMMAND, "--help").isdisjoint(DEPENDENCIES)


@pytest.mark.parametrize("table", [[], ["flops"], ["kernels", "--json"]])
def test_showing_needs_no_compiler_and_no_tui(dump_of: DumpOf, table: list[str]) -> None:
    loaded = loaded_after(RUN_COMMAND, "show", str(dump_of("conv_bias").dump), *table)
    assert loaded.isdisjoint({*COMPILER, "textual", "graphviz"})


def test_drawing_needs_no_compiler_and_no_screen(dump_of: DumpOf, tmp_path: Path) -> None:
    output = tmp_path / "schedule.dot"
    loaded = loaded_after(RUN_COMMAND, "draw", str(dump_of("conv_bias").dump), "schedule", "-o", str(output))
    assert output.exists()
    assert loaded.isdisjoint({*COMPILER, *SCREEN})

"""Watching imports leaves no trace in the modules, their errors and their warnings."""

import subprocess
import sys
from pathlib import Path

import pytest
import torch

from inspect_compile.dump import Dump
from inspect_compile.facts import Imported, Skip
from inspect_compile.torch_compat.dynamo import SKIP_REASON
from tests.private_names import covers
from tests.running import inspected

WATCH = """
import sys
from inspect_compile.child.imports import ImportWatch
told = []
ImportWatch("gate", lambda: ["gate.one", "gate.two", "gate.broken"], told.append).install()
"""


REFUSES = """
import importlib.machinery, sys, traceback
class Loader:
    def create_module(self, spec):
        return None
    def exec_module(self, module):
        traceback.print_stack()
        raise PermissionError("held")
class Finder:
    def find_spec(self, name, path=None, target=None):
        traceback.print_stack()
        if name.endswith("held"):
            return importlib.machinery.ModuleSpec(name, Loader())
sys.meta_path.insert(0, Finder())
"""


@pytest.fixture
def package(tmp_path: Path) -> Path:
    folder = tmp_path / "gate"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "one.py").write_text("import gate.two, warnings\nwarnings.warn('old', DeprecationWarning, stacklevel=2)")
    (folder / "two.py").write_text("value = 2")
    (folder / "broken.py").write_text("import gate.two\n1 / 0")
    (folder / "missing.py").write_text("import no_such_module")
    (tmp_path / "refuses.py").write_text(REFUSES)
    return tmp_path


def python(code: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-W", "always", "-c", code]
    return subprocess.run(words, cwd=cwd, capture_output=True, text=True, check=False, timeout=60)


def test_modules_are_told_when_they_have_run(package: Path) -> None:
    code = f"{WATCH}\nassert told == []\nimport gate\nassert told == []\nimport gate.one\nprint(told)"
    assert python(code, package).stdout == "['gate.two', 'gate.one']\n"


def test_modules_that_are_there_already_are_told_in_order(package: Path) -> None:
    code = f"import gate.two, gate.one\n{WATCH}\nprint(told)"
    assert python(code, package).stdout == "['gate.one', 'gate.two']\n"


def test_each_is_told_once(package: Path) -> None:
    code = f"{WATCH}\nimport gate.two, importlib\nimportlib.reload(gate.two)\nprint(told)"
    assert python(code, package).stdout == "['gate.two']\n"


def test_looking_for_a_module_is_no_import(package: Path) -> None:
    code = f"{WATCH}\nimport importlib.util\nimportlib.util.find_spec('gate.two')\nprint(told)"
    assert python(code, package).stdout == "[]\n"
    code += "\nimport gate.two\nprint(told)"
    assert python(code, package).stdout == "[]\n['gate.two']\n"


@pytest.mark.parametrize(
    "program",
    [
        "import gate.two as m\nprint(m.__loader__.__dict__, m.__spec__.origin, vars(m.__spec__).keys(), [*vars(m)])",
        "import gate.one",
        "import gate.broken",
        "import gate.missing",
        "try:\n    import gate.broken\nexcept ZeroDivisionError:\n    pass\nimport gate.broken",
        "import gate.nowhere",
        "import resource\nresource.setrlimit(resource.RLIMIT_NOFILE, (0, 4096))\nimport gate.one",
        *(
            f"import refuses\n{watched}import {name}"
            for name in ("held", "gate.held")
            for watched in ("", "import gate\n")
        ),
        "import refuses\ntry:\n    import gate.held\nexcept PermissionError:\n    import gate.two\nimport gate.held",
    ],
)
def test_a_watched_import_looks_as_it_would_alone(program: str, package: Path) -> None:
    """Attributes, warnings with a stacklevel, tracebacks."""
    (package / "program.py").write_text(program)
    (package / "watch.py").write_text(WATCH)
    code = "import sys\nif sys.argv[1] == 'watched':\n    import watch\nimport program"
    (package / "main.py").write_text(code)
    alone, watched = (
        subprocess.run(
            [sys.executable, "-W", "always", "main.py", how], cwd=package, capture_output=True, text=True, check=False
        )
        for how in ("alone", "watched")
    )
    assert (watched.stdout, watched.stderr, watched.returncode) == (alone.stdout, alone.stderr, alone.returncode)
    assert alone.stdout or alone.stderr


FINDER = """
import importlib.machinery, importlib.util, sys
class Loader(importlib.machinery.SourceFileLoader):
    __slots__ = ()
class Finder:
    def find_spec(self, name, path=None, target=None):
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is not None and {makes}:
            return importlib.util.spec_from_file_location(name, spec.origin, loader=Loader(name, spec.origin),
                submodule_search_locations=spec.submodule_search_locations)
        return spec
sys.meta_path.insert(0, Finder())
"""


@pytest.mark.parametrize("makes", [False, True])
@pytest.mark.parametrize("first", [False, True])
def test_a_finder_of_the_programs_own_hides_nothing(makes: bool, first: bool, package: Path) -> None:
    parts = (FINDER.format(makes=makes), WATCH)
    code = "\n".join((*(parts if first else parts[::-1]), "import gate.one", "print(told)"))
    assert python(code, package).stdout == "['gate.two', 'gate.one']\n"


@pytest.mark.parametrize("where", ["opened", "imported"])
def test_what_strikes_while_probes_are_installed_is_what_the_import_raises(where: str, package: Path) -> None:
    """The module is not there then, and is watched where it is imported once more."""
    code = f"""
import signal, sys, traceback
from inspect_compile.child.imports import ImportWatch
told = []
def handler(number, frame):
    raise TimeoutError("the program's own")
signal.signal(signal.SIGUSR1, handler)
def strike(where):
    if where == {where!r} and not told:
        told.append("struck")
        signal.raise_signal(signal.SIGUSR1)
def opened():
    strike("opened")
    return ["gate.two"]
def imported(name):
    strike("imported")
    told.append(name)
ImportWatch("gate", opened, imported).install()
try:
    import gate.two
except TimeoutError as error:
    print(error, "gate.two" in sys.modules, hasattr(sys.modules.get("gate"), "two"))
    print([frame.name for frame in traceback.extract_tb(error.__traceback__)])
from gate import two
print(told, two.value)
"""
    done = python(code, package)
    assert done.stdout == "the program's own False False\n['<module>', 'handler']\n['struck', 'gate.two'] 2\n", (
        done.stderr
    )


@pytest.mark.parametrize("where", ["opened", "imported"])
def test_a_failure_of_ours_is_no_failure_of_the_import(where: str, package: Path) -> None:
    code = f"""
import sys
from inspect_compile.child.imports import ImportWatch
def fail(where):
    if where == {where!r}:
        raise RuntimeError("ours")
    return ["gate.two"]
ImportWatch("gate", lambda: fail("opened"), lambda name: fail("imported")).install()
import gate.two
print(gate.two.value, sys.modules["gate.two"] is gate.two)
"""
    done = python(code, package)
    assert (done.stdout, done.stderr) == ("2 True\n", "")


def test_imports_that_take_long_are_told_once_with_all_that_they_import(package: Path) -> None:
    slow = "import time\ntime.sleep(0.02)\n"
    (package / "gate" / "slow.py").write_text(slow)
    (package / "outer.py").write_text(f"import gate.slow\n{slow}")
    (package / "fails.py").write_text(f"{slow}1 / 0")
    code = f"""
import sys, threading
from inspect_compile.child.imports import LONG, ImportWatch
took = []
ImportWatch("gate", lambda: [], print, took.append).install()
import outer
try:
    import fails
except ZeroDivisionError as error:
    assert [line.tb_frame.f_code.co_filename for line in (error.__traceback__, error.__traceback__.tb_next)] == [
        "<string>", {str(package / "fails.py")!r}
    ]
print([(name, start > 1e9, seconds >= LONG) for name, start, seconds in took])
"""
    done = python(code, package)
    assert done.stdout == "[('outer', True, True), ('fails', True, True)]\n", done.stderr


def test_a_package_and_its_module_are_told_for_themselves(package: Path) -> None:
    """Both names stand in one statement; of the module is what it took after its package was there."""
    (package / "gate" / "__init__.py").write_text("import time\ntime.sleep(0.02)")
    (package / "gate" / "slow.py").write_text("import time\ntime.sleep(0.02)")
    (package / "gate" / "third.py").write_text("import gate.slow")
    code = """
from inspect_compile.child.imports import ImportWatch
took = []
passed = lambda: print([name for name, *_ in took])
ImportWatch("gate", lambda: [], print, took.append, passed).install()
import gate.third
(_, begun, seconds), (_, start, _) = took
print(start >= begun + seconds)
"""
    done = python(code, package)
    assert done.stdout == "['gate', 'gate.third']\nTrue\n", done.stderr


OWN_MODULE = """
import importlib.machinery, sys, types
class Loader(importlib.machinery.SourceFileLoader):
    def create_module(self, spec):
        return types.ModuleType(spec.name)
class Finder:
    def find_spec(self, name, path=None, target=None):
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if name == "gate":
            spec.loader = Loader(name, spec.origin)
        return spec
sys.meta_path.insert(0, Finder())
"""


def test_a_loader_that_makes_its_module_itself_opens_the_gate(package: Path) -> None:
    (package / "gate" / "__init__.py").write_text("import gate.one")
    code = f"{OWN_MODULE}{WATCH}\nimport gate\nprint(told)\nimport gate.two"
    assert python(code, package).stdout == "['gate.one', 'gate.two']\n"


WATCHED_BY_DYNAMO = """
import threading
import torch

lock = threading.Lock()


def load():
    import slow


@torch.compile
def scaled(x):
    with lock:
        torch._dynamo.graph_break()  # Dynamo gives the frame up, and looks at each one that it calls
        load()
        return x * 2


print(scaled(torch.ones(3)).sum().item())
"""


@pytest.mark.skipif(not covers(SKIP_REASON, torch.__version__), reason="this torch does not say which it gave up")
def test_an_import_below_a_frame_that_dynamo_gave_up_shows_it_no_frame_of_ours(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text("import time\ntime.sleep(0.05)\n")
    script = tmp_path / "scaled.py"
    script.write_text(WATCHED_BY_DYNAMO)

    done = inspected([script], tmp_path)

    assert (done.returncode, done.stdout) == (0, "6.0\n"), done.stderr
    dump = Dump(tmp_path / "dump")
    assert "slow" in {row.module for row in dump.rows(Imported)}
    assert [(row.function, Path(row.file).name) for row in dump.rows(Skip)] == [
        ("scaled", "scaled.py"),
        ("load", "scaled.py"),
        ("<module>", "slow.py"),
    ]

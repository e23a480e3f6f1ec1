"""The plugin changes nothing: a suite ends, prints and leaves files as without it, also where tests capture."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.running import run, without_clock

PLUGIN = ("-p", "inspect_compile.testing.plugin")
OPTIONS = ("-p", "no:cacheprovider", "-q", "-rA", "-o", "addopts=", "-W", "default")
CONFTEST = """\
import contextlib
import os
import pytest

@pytest.fixture
def around(request):
    if "CAPTURES" in os.environ:
        return request.getfixturevalue("inspect_compile").capture
    return contextlib.nullcontext
"""
SUITE = """\
import os
import subprocess
import sys
import threading
import warnings
from pathlib import Path

import pytest
import torch

X = torch.arange(24.0).reshape(4, 6)

def f(x):
    return (x.softmax(-1) * 2).sum(0)

def broken(x):
    raise KeyError("in the compiled function")

def printing(x):
    y = x.relu()
    print("printed between graphs")
    return y + 1

def breaking(x):
    print("not in one graph")
    return x.relu()

def test_results(around, capsys):
    with around():
        print(torch.compile(f)(X), torch.compile(printing)(X).sum())
    assert "printed between graphs" in capsys.readouterr().out

def test_training(around):
    w = torch.ones(6, 3, requires_grad=True)
    with around():
        torch.compile(lambda x: (x @ w).relu().sum())(X).backward()
    print(w.grad)

def test_recompiles(around):
    with around():
        compiled = torch.compile(f)
        for rows in (2, 3, 4):
            print(compiled(X[:rows]))

def test_exception_of_the_function(around):
    with pytest.raises(KeyError, match="in the compiled function") as raised, around():
        torch.compile(broken)(X)
    print([entry.name for entry in raised.traceback if entry.path == Path(__file__)])

def test_fullgraph_fails(around):
    with around():
        torch.compile(breaking, fullgraph=True)(X)

def test_exception_of_the_test(around):
    with around():
        torch.compile(f)(X)
        assert X.shape == (6, 4), "an assertion in the block"

def test_warnings(around):
    with around(), pytest.warns(UserWarning, match="mine"):
        torch.compile(f)(X)
        warnings.warn("mine")
    warnings.warn("left over")

def test_skips(around):
    with around():
        pytest.skip("no reason")

@pytest.mark.xfail(strict=True)
def test_expected_failure(around):
    with around():
        raise ValueError("expected")

def test_files(around, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with around():
        torch.compile(f)(X)
        Path("mine.txt").write_text("mine")
    assert sorted(os.listdir(tmp_path)) == ["mine.txt"]

def test_children_and_threads(around):
    with around():
        done = subprocess.run([sys.executable, "-c", "import os; print('child', 'PYTHONPATH' in os.environ)"],
                              capture_output=True, text=True)
        thread = threading.Thread(target=lambda: print("thread", torch.compile(f)(X)))
        thread.start()
        thread.join()
    print(done.stdout, done.stderr)

def test_counters(around):
    torch._dynamo.reset()
    torch._dynamo.utils.counters.clear()
    with around():
        torch.compile(f)(X)
    print({name: dict(found) for name, found in torch._dynamo.utils.counters.items() if name in ("frames", "stats")})

def test_nothing_is_left():
    print(sorted(name for name in os.environ if "INSPECT" in name), sys.gettrace(), sys.getprofile())
"""


def outcome(folder: Path, cache: Path, *options: str, captures: bool = False) -> tuple[int, str, str, list[str]]:
    """Exit status, output and errors without times and addresses, and the files that are there."""
    folder.mkdir()
    (folder / "conftest.py").write_text(CONFTEST)
    (folder / "test_suite.py").write_text(SUITE)
    environment = {
        "TORCHINDUCTOR_CACHE_DIR": str(cache),
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "COLUMNS": "160",
        "CAPTURES": "1" if captures else None,
    }
    done = run([sys.executable, "-m", "pytest", *OPTIONS, *options], folder, environment=environment)
    files = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if "__pycache__" not in path.parts)
    return done.returncode, _plain(done, folder), done.stderr, files


def _plain(done: subprocess.CompletedProcess[str], folder: Path) -> str:
    text = without_clock(done.stdout).replace(str(folder), "FOLDER")
    text = re.sub(r"0x[0-9a-f]{6,}", "ADDRESS", text)
    text = re.sub(r"^around = .*$", "around = WHAT THE SUITE CHOSE", text, flags=re.MULTILINE)
    return re.sub(r"in \d+\.\d+s(?: \(\d+:\d+:\d+\))?", "in TIME", text)


@pytest.mark.harmless
def test_a_suite_is_the_same_without_it_with_it_and_where_tests_capture(tmp_path: Path, inductor_cache: Path) -> None:
    alone = outcome(tmp_path / "alone", inductor_cache)
    assert alone[0] == 1, alone[1]
    assert "2 failed, 9 passed, 1 skipped, 1 xfailed" in alone[1], alone[1]
    assert alone[3] == ["conftest.py", "test_suite.py"]
    assert outcome(tmp_path / "loaded", inductor_cache, *PLUGIN) == alone
    assert outcome(tmp_path / "captures", inductor_cache, *PLUGIN, captures=True) == alone

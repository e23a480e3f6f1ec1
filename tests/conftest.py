"""What all tests share: golden files, and one recorded dump for each sample."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from filelock import FileLock

from tests.running import COLD, run, settle
from tests.slow_files import SLOW, SLOWEST
from tests.source_files import SOURCES
from tests.summary import Summary
from tests.warm import COLD as COLD_FILES
from tests.warm import INTERPRETERS

TESTS = Path(__file__).resolve().parent
SAMPLES = TESTS.parent / "samples"
HAS_SOURCES = (TESTS.parent / "inspector").is_dir()
KEPT = pytest.StashKey[str]()
"""The folder of this session, with one for the facts that each test keeps."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="write what the tests got into tests/golden/")
    parser.addoption(
        "--vectors",
        choices=("default", "avx2", "avx512"),
        default="avx2",
        help="the vector instructions that C++ kernels are generated for; golden files hold those of avx2",
    )
    parser.addoption(
        "--cpu-bound", type=float, metavar="SECONDS", help="fail if the tests take a fifth more CPU seconds than these"
    )


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    is_about_sources = (
        collection_path.is_relative_to(TESTS) and collection_path.relative_to(TESTS).as_posix() in SOURCES
    )
    return True if is_about_sources and not HAS_SOURCES else None


def pytest_report_header() -> str | None:
    return None if HAS_SOURCES else f"without sources: {len(SOURCES)} files of tests about them are left out"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(TESTS):
            file = item.path.relative_to(TESTS).as_posix()
            for marker, files in (("slow", SLOW), ("slowest", SLOWEST)):
                if file in files:
                    item.add_marker(marker)


def pytest_configure(config: pytest.Config) -> None:
    config.stash[KEPT] = kept = tempfile.mkdtemp(prefix="inspect_compile_kept_")
    config.add_cleanup(lambda: shutil.rmtree(kept, ignore_errors=True))
    config.pluginmanager.register(Summary(config.getoption("--cpu-bound")), "summary")
    if "PYTEST_XDIST_WORKER" not in os.environ:
        # One cache of compiled kernels for the programs of this session, and only for them: what an earlier one left
        # may be half written, or of another torch. The workers take it from here.
        os.environ["TORCHINDUCTOR_CACHE_DIR"] = os.path.join(kept, "inductor")
    # An end from outside is one that cleans up.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    # What `doctor` measured on this machine would stand in golden files.
    os.environ["XDG_CACHE_HOME"] = str(TESTS / "no_such_cache")
    # The C++ that Inductor generates depends on the width of the processor's vectors and on the number of threads.
    os.environ["ATEN_CPU_CAPABILITY"] = config.getoption("--vectors")
    os.environ["OMP_NUM_THREADS"] = "2"
    # A shell that starts the tests in the background has them, and every program that they start, ignore Ctrl-C.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Nothing that another test or the user recorded is taken from the kept facts; a test may record a program twice.

    Before all fixtures, those of modules too, which may record.
    """
    os.environ["INSPECT_COMPILE_CACHE_DIR"] = tempfile.mkdtemp(dir=item.config.stash[KEPT])
    INTERPRETERS.is_off = any(item.path.is_relative_to(TESTS / name) for name in COLD_FILES)


@dataclass(frozen=True)
class Golden:
    """The expected texts of one test: tests/golden/<its folders>/<its module>/<its name><suffix>."""

    stem: Path
    update: bool

    def check(self, text: str, suffix: str = ".txt") -> None:
        """Assert that `text` is what the file holds. A test with several files gives each a suffix (`.before.dot`)."""
        path = self.stem.with_name(self.stem.name + suffix)
        if self.update:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            return
        assert path.exists(), f"{path.relative_to(TESTS)} is not there: pytest --update-golden writes it"
        assert text == path.read_text(encoding="utf-8"), f"{path.relative_to(TESTS)} (pytest --update-golden, if meant)"


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Golden:
    folder = TESTS / "golden" / request.path.relative_to(TESTS).with_suffix("")
    name = request.node.name.replace("[", "-").replace("]", "").replace("/", "_")
    return Golden(folder / name, update=request.config.getoption("--update-golden"))


@dataclass(frozen=True)
class Recorded:
    """A finished `inspect-compile run` of a sample."""

    dump: Path
    result: subprocess.CompletedProcess[str]


DumpOf = Callable[..., Recorded]


@pytest.fixture(scope="session")
def inductor_cache() -> Path:
    """Where compiled kernels stay while the tests run; recording bypasses torch's caches of whole graphs."""
    folder = Path(os.environ["TORCHINDUCTOR_CACHE_DIR"])
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture
def no_graphs(tmp_path: Path, inductor_cache: Path) -> Path:
    """The same kernels, and caches of whole graphs that only this test fills: others run beside it."""
    folder = tmp_path / "no_graphs"
    folder.mkdir()
    for kept in inductor_cache.iterdir():
        if kept.name not in ("fxgraph", "aotautograd"):
            (folder / kept.name).symlink_to(kept)
    return folder


@pytest.fixture(scope="session")
def shared_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that all workers of one session share, so that each sample runs once."""
    base = tmp_path_factory.getbasetemp()
    return base.parent if "PYTEST_XDIST_WORKER" in os.environ else base


def run_once(
    folder: Path, make: Callable[[Path], subprocess.CompletedProcess[str]]
) -> subprocess.CompletedProcess[str]:
    """What `make` gave in `folder`: the first worker that asks runs it, the others wait for the result."""
    done = folder / "result.json"
    folder.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(f"{folder}.lock"):
        if not done.exists():
            folder.mkdir()
            result = make(folder)
            done.write_text(json.dumps([result.args, result.returncode, result.stdout, result.stderr]))
    return subprocess.CompletedProcess(*json.loads(done.read_text()))


@pytest.fixture(scope="session")
def dump_of(shared_folder: Path, inductor_cache: Path) -> DumpOf:
    """`dump_of("softmax_mlp", "--device", "cpu")`: that sample, recorded once a session; the test judges the result."""

    def dump_of(sample: str, *args: str) -> Recorded:
        folder = shared_folder / "recorded" / "_".join((sample, *args))
        dump = folder / "dump"
        command = [sys.executable, "-m", "inspect_compile", "run", "--no-tui", *COLD, "--dump", str(dump)]
        return Recorded(
            dump, run_once(folder, lambda folder: run_sample(command, sample, args, folder, inductor_cache))
        )

    return dump_of


_TOLD = ("output_code", "fusion")
_LOGGED = re.compile(rf"\[__({'|'.join(_TOLD)})\]")


@dataclass(frozen=True)
class Plain:
    """A sample that Python alone ran, while torch logged what tests are held against."""

    result: subprocess.CompletedProcess[str]
    """Without that log."""
    log: str
    """Where it wrote which code, and what it said of fusions."""


PlainOf = Callable[..., Plain]


@pytest.fixture(scope="session")
def plain_of(shared_folder: Path, inductor_cache: Path) -> PlainOf:
    """`plain_of("softmax_mlp", "--device", "cpu")`: that sample as Python alone runs it, once a session."""
    # The caches of whole graphs are off, or a graph that they serve would log nothing.
    off = {"TORCHINDUCTOR_FX_GRAPH_CACHE": "0", "TORCHINDUCTOR_AUTOGRAD_CACHE": "0"}
    environment = {**os.environ, **off, "TORCH_LOGS": ",".join(_TOLD)}

    def plain_of(sample: str, *args: str) -> Plain:
        folder = shared_folder / "plain" / "_".join((sample, *args))
        result = run_once(
            folder,
            lambda folder: run_sample([sys.executable], sample, args, folder, inductor_cache, environment),
        )
        lines: dict[bool, list[str]] = {True: [], False: []}
        for line in result.stderr.splitlines(keepends=True):
            lines[_LOGGED.search(line) is not None].append(line)
        result.stderr = "".join(lines[False])
        return Plain(result, "".join(lines[True]))

    return plain_of


def run_sample(
    command: list[str],
    sample: str,
    args: tuple[str, ...],
    folder: Path,
    inductor_cache: Path,
    environment: Mapping[str, str] = os.environ,
) -> subprocess.CompletedProcess[str]:
    """`command`, then the sample with its arguments, in `folder`; without a terminal."""
    variables = {**environment, "TORCHINDUCTOR_CACHE_DIR": str(inductor_cache)}
    done = run([*command, SAMPLES / f"{sample}.py", *args], folder, environment=variables)
    settle(folder)
    return done

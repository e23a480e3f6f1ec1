"""The fixture `inspect_compile`, and a contract for each test. Loaded at every start of pytest where this tool is
installed: imports neither torch nor an analysis before a test asks for it.
"""

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from inspect_compile.testing.captures import InspectCompile


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option."""
    group = parser.getgroup("inspect-compile")
    group.addoption(
        "--inspect-compile-lock",
        nargs="?",
        const="check",
        choices=("check", "update"),
        help="compare what each test captures with its contract in compile_locks/ next to the test; =update writes"
        " them",
    )


@pytest.fixture
def inspect_compile(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> "InspectCompile":
    """Records what is compiled: `with inspect_compile.capture() as compiled: …`, then `compiled.assert_…()`."""
    from inspect_compile.testing.captures import InspectCompile, Locks

    mode = request.config.getoption("--inspect-compile-lock")
    name = request.node.nodeid.rpartition("::")[2]
    locks = None
    if mode is not None:
        folder = request.path.parent / "compile_locks" / request.path.stem
        locks = Locks(folder, name, str(request.config.rootpath), is_update=mode == "update")
    return InspectCompile(tmp_path_factory.mktemp("inspect_compile"), str(request.config.rootpath), locks)

"""Every form of kernels that statements are mapped in compiles under inspection as without it."""

from pathlib import Path

import pytest

from tests.harmless.harness import Case, Place, unharmed
from tests.statements import statements_missing

PROGRAMS = Path(__file__).resolve().parents[1] / "codegen" / "programs"


@pytest.mark.harmless
def test_every_form_is_unharmed(caches: Path, tmp_path: Path) -> None:
    (dump,) = unharmed(Place(tmp_path, caches, PROGRAMS), Case("statements.py", ("statements.py",)))

    assert statements_missing(dump) == []

"""One place for all runs of a session."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import SAMPLES
from tests.harmless.harness import EVERYWHERE, Outcome, Place, claimed

PROGRAMS = Path(__file__).parent / "programs"


@pytest.fixture(scope="session")
def caches(request: pytest.FixtureRequest) -> Iterator[Path]:
    """Where kernels stay compiled from one session to the next."""
    with claimed(Path(request.config.cache.mkdir("harmless"))) as folder:
        yield folder


@pytest.fixture(scope="session")
def place(caches: Path, tmp_path_factory: pytest.TempPathFactory) -> Place:
    """For the programs of this folder."""
    return Place(tmp_path_factory.mktemp("place"), caches, PROGRAMS)


@pytest.fixture(scope="session")
def samples_place(caches: Path, tmp_path_factory: pytest.TempPathFactory) -> Place:
    """For the samples."""
    return Place(tmp_path_factory.mktemp("place"), caches, SAMPLES)


@pytest.fixture(scope="session")
def plain(place: Place) -> Outcome:
    """What EVERYWHERE is alone."""
    return place.plain(EVERYWHERE)

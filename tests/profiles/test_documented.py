"""docs/profiles.md names every field of the rows that name and attribute print."""

from pathlib import Path

import msgspec
import pytest

from inspect_compile.analysis.lookup.named_kernel import NamedKernel
from inspect_compile.analysis.runtime.attributed_time import AttributedRun, AttributedTime, Unattributed

TEXT = (Path(__file__).resolve().parents[2] / "docs" / "profiles.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("row", [NamedKernel, AttributedRun, AttributedTime, Unattributed])
def test_every_field_is_named(row: type[msgspec.Struct]) -> None:
    assert f"`{row.__struct_config__.tag}`" in TEXT
    for name in row.__struct_encode_fields__:
        assert f"`{name}`" in TEXT, name

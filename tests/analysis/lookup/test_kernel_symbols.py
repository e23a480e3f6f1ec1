"""The names that old releases of Triton gave kernels: what they say, in a time that grows with their length."""

import time

import pytest

from inspect_compile.analysis.lookup import kernel_symbols


@pytest.mark.parametrize(
    ("name", "letters"),
    [
        ("triton__0d1d2c", ("d", "d", "c")),
        ("kernel_0d1de2", ("d", "de", "")),
        ("k_01d", ("", "d")),
        ("k_0123456789d", ("", "", "", "", "", "", "", "", "", "d")),
        ("triton_poi_fused_add_0", None),
        ("k_00d", None),
        ("k_1d", None),
        ("k_0d!", None),
    ],
)
def test_what_a_name_says(name: str, letters: tuple[str, ...] | None) -> None:
    found = kernel_symbols.decode(name)
    assert (None if found is None else found.letters) == letters


@pytest.mark.parametrize(
    "name", [f"k_{'0' * 50_000}!", f"k_{'0d' * 20_000}!", "k_0" * 20_000, f"k_{''.join(map(str, range(20_000)))}d"]
)
def test_no_name_takes_longer_than_its_length(name: str) -> None:
    began = time.process_time()
    kernel_symbols.decode(name)
    assert time.process_time() - began < 1


@pytest.mark.parametrize("piece", ["a", "triton_meta={", "a(", "a()", "{'a': "])
def test_no_source_takes_longer_than_its_length(piece: str) -> None:
    began = time.process_time()
    kernel_symbols.of_source(f"triton_meta={{{piece * (60_000 // len(piece))}}}\n")
    kernel_symbols.of_source(piece * (400_000 // len(piece)))
    assert time.process_time() - began < 2

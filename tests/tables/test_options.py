"""The options that tables declare: a flag is one thing wherever it stands, and what declares one takes it."""

import importlib
import inspect
from collections.abc import Callable
from typing import Any

import pytest

from inspect_compile.tables import PAGES, TABLES
from inspect_compile.tables.options import OUTPUT, Option
from inspect_compile.tables.row_sources import ROWS

WITH_OPTIONS = [name for name, entry in TABLES.items() if entry.options]


def _function(where: str) -> Callable[..., Any]:
    module, _, name = where.partition(":")
    function: Callable[..., Any] = getattr(importlib.import_module(module), name)
    return function


@pytest.mark.parametrize("name", WITH_OPTIONS)
def test_a_table_takes_what_it_declares_and_its_rows_too(name: str) -> None:
    entry = TABLES[name]
    options = {option.name: None for option in entry.options if option.name != OUTPUT.name}

    inspect.signature(_function(entry.where)).bind("request", **options)
    inspect.signature(ROWS[name]).bind("graphs", **options)


def test_a_flag_is_read_in_one_way_by_all_that_take_it() -> None:
    flags: dict[str, set[Option]] = {}
    for entry in (*TABLES.values(), *PAGES.values()):
        for option in entry.options:
            flags.setdefault(option.flag, set()).add(option._replace(help=""))

    assert len(flags) >= 10
    assert {flag: len(ways) for flag, ways in flags.items() if len(ways) > 1} == {}

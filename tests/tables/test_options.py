"""The options that tables declare: a flag is one thing wherever it stands, and what declares one takes it."""

import inspect

import pytest

from inspect_compile.tables import TABLES, load
from inspect_compile.tables.options import OPTIONS, OUTPUT, Option


@pytest.mark.parametrize("name", TABLES)
def test_a_table_takes_its_options_and_so_do_its_rows(name: str) -> None:
    options = {option.name: None for option in OPTIONS.get(name, ()) if option.name != OUTPUT.name}

    table = load(name)

    inspect.signature(table.show).bind("request", **options)
    inspect.signature(table.rows).bind("graphs", **options)
    if table.facts is not None:
        inspect.signature(table.facts).bind("graphs")


def test_a_flag_is_read_in_one_way_by_all_that_take_it() -> None:
    flags: dict[str, set[Option]] = {}
    for options in OPTIONS.values():
        for option in options:
            flags.setdefault(option.flag, set()).add(option._replace(help=""))

    assert len(flags) >= 10
    assert {flag: len(ways) for flag, ways in flags.items() if len(ways) > 1} == {}

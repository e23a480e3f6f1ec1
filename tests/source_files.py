"""The files that test the sources themselves: left out where the tests run against an installed wheel."""

from typing import Final

SOURCES: Final = frozenset(
    {
        "analysis/test_no_cli_words.py",
        "hostile/test_patterns.py",
        "hostile/test_sinks.py",
        "packages/test_build.py",
        "packages/test_recipe.py",
        "packages/test_wheel.py",
        "probe/test_interrupts.py",
        "tables/test_dump_text.py",
        "test_circles.py",
        "test_import_hygiene.py",
        "test_rooms.py",
        "test_words.py",
        "torch_compat/test_names.py",
    }
)
"""They read the modules below inspector/, lowering/, codegen/ and tui/, which tests beside a wheel do not have."""

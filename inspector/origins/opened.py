"""What stands at a path that someone named: a dump of ours, or what others wrote."""

from pathlib import Path

from inspect_compile.dump import Dump, find_dumps, paths


def of_others(path: Path) -> Dump | None:
    """The dump of what others wrote at `path`; None if it is a dump itself, or nothing that can be read."""
    if (path / paths.RUN).is_file() or not path.exists() or path.name == paths.RUN or find_dumps(path):
        return None
    from inspect_compile.origins.importing import cache_folder, is_readable, kept

    return kept(path, cache_folder()) if is_readable(path) else None

"""Finds the profile that a person names by its path."""

from pathlib import Path

from inspect_compile.analysis.cost.roofline import CallTime
from inspect_compile.analysis.kernels.launch_times import Key
from inspect_compile.analysis.lookup.answer import Answer, Found, Unknown
from inspect_compile.analysis.runtime.attributed_time import measured_in
from inspect_compile.analysis.runtime.attribution import attribute
from inspect_compile.dump import Dump
from inspect_compile.profiles import Profile
from inspect_compile.profiles.read import read


def find_profile(dump: Dump, path: str) -> Answer[Profile]:
    """The profile in a file, if anything is in it."""
    file = Path(path)
    if not file.is_file():
        return Unknown(path, "file of a profile", dump.root, why="a folder, not a profile" if file.exists() else "")
    try:
        profile = read(file)
    except (OSError, ValueError) as error:
        return Unknown(path, "format of a profile", dump.root, why=str(error))
    if profile.runs or profile.spans:
        return Found((profile,))
    return Unknown(path, "content of a profile", dump.root, why=f"{profile.events:,} events")


def find_call_times(dump: Dump, path: str) -> Answer[dict[Key, CallTime]]:
    """The mean time of a call of each of the dump's launches, in the profile at `path`."""
    answer = find_profile(dump, path)
    if not isinstance(answer, Found):
        return answer
    found = measured_in(attribute(dump, answer.all[0]))
    return Found((found,)) if found else Unknown(path, "kernel of a profile", dump.root)

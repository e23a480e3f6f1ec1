"""What a program that is still running compiles at the moment, in words."""

from inspect_compile.analysis.frontend.progress import Progress
from inspect_compile.tables.text import number_of, one_line


def progress_text(row: Progress) -> str:
    """`compiling 0/0 forward: building kernels for 12 s, 41 s in all; 4 kernels; 2 compilers run, 3 have ended`."""
    what = " ".join(word for word in (one_line(row.compile_id), row.kind) if word)
    words = f"compiling {what}".strip() + f": {short_progress_text(row)}"
    words += f", {row.seconds:.0f} s in all" if row.seconds - row.stage_seconds >= 1 else ""
    if row.pass_name:
        words += f"; after {one_line(row.pass_name)}"
    if row.kernels:
        words += f"; {number_of(row.kernels, 'kernel')}"
    if row.building:
        words += f"; {number_of(row.building, 'kernel build')} running, {row.built:,} done"
    elif row.built:
        words += f"; {number_of(row.built, 'kernel build')} done"
    return words


def short_progress_text(row: Progress) -> str:
    """`building kernels for 12 s`."""
    return f"{row.stage} for {row.stage_seconds:.0f} s"

"""The outermost guard of our code in a program's process: what fails below it, the guard's own report included, never
breaks the program. Light: loaded at interpreter start.

What is here calls only functions written in C and, within a `try`, what may fail: a test reads its instructions.
"""

from collections.abc import Callable
from sys import exception

from inspect_compile.at_start import AtStart

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def leave_traceback(error: BaseException) -> None:
    """Remove the frame of the running except clause, the newest entry, from the traceback: a bare `raise` adds none."""
    found = AtStart.traceback_of(error)
    AtStart.set_traceback(error, None if found is None else found.tb_next)


def of_program(
    report: "Callable[..., BaseException | None]",
    error: BaseException,
    handled: BaseException | None,
    *about: "Any",
) -> BaseException | None:
    """The program's exception that `error` is, or that became it; None if our code failed.

    `report(error, handled, *about)` says which, and reports a failure of ours; `handled` is what was being handled when
    our code began. Where the report fails itself, `error` is the program's if it is no Exception: our code raises no
    other, and KeyboardInterrupt, SystemExit and those of test runners are there to end a program.
    """
    try:
        return report(error, handled, *about)
    except BaseException as failure:
        other = failure
    try:
        if not issubclass(type(error), Exception):
            return error
        return whose(other, error)  # the program's own may have struck during the report
    except BaseException as failure:
        return None if issubclass(type(failure), Exception) else failure
    finally:
        del other  # a cycle


def guarded(call: "Callable[..., object]", *given: "Any") -> None:
    """Call what of ours Python itself calls, as when a module was imported or after a fork. Only an exception of the
    program's propagates.
    """
    try:
        call(*given)
        return
    except BaseException as error:
        caught = error
    own = of_program(whose, caught, exception())
    if own is None:
        AtStart.set_traceback(caught, None)
        return
    try:
        raise own
    except BaseException as error:
        leave_traceback(error)
        raise
    finally:
        del own, caught


def silent(call: "Callable[[], object]") -> None:
    """Call it where Python would print what is raised: when the program has ended."""
    try:
        call()
    except BaseException:
        return


def whose(error: BaseException, handled: BaseException | None) -> BaseException | None:
    """The report of what is told nowhere."""
    from inspect_compile import interrupts  # slow, and seldom needed

    return interrupts.of_program(error, handled)

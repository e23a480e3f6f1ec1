"""How many calls torch checks no guards for: of functions that it has skipped, and of those under
`torch.compiler.disable`.

Dynamo is not asked about them, and no hook of torch's is called. But torch reads something in each: a list of functions
to call when what `torch.compile` returned is entered, and the callback of a disabled function. What counts stands
there, and is made of functions in C: no call has a frame more, nor goes deeper.
"""

import functools
import inspect
import itertools
import types
from collections import defaultdict
from collections.abc import Callable
from typing import Any, Final, NamedTuple

import torch

from inspect_compile.knowledge.frontend.own_code import is_library
from inspect_compile.lowering.core import values
from inspect_compile.probe import Probes, argument
from inspect_compile.probe.hook import HookState
from inspect_compile.torch_compat import dynamo as names
from inspect_compile.torch_compat.attributes import ORIGINAL

PROBE = "lowering.unguarded_calls"

_MOST: Final = 10_000
"""Results of torch.compile whose calls are counted: a program may make one in each step."""

_does_nothing_at_the_end: Final[Callable[[], Any]] = itertools.repeat(int).__next__


class FunctionCode(NamedTuple):
    """A code object as plain values: a reference would keep alive what Dynamo compiled for it."""

    function: str
    file: str
    line: int

    @classmethod
    def of(cls, code: types.CodeType) -> "FunctionCode":
        return cls(code.co_qualname, code.co_filename, code.co_firstlineno)


class _Entries:
    """The calls of what one context of torch.compile's returned."""

    def __init__(self, code: FunctionCode, enters: Callable[[], Any]) -> None:
        """`enters` is called in each, and returns what torch calls at the end."""
        self.codes = {code}
        """The functions that the context was given, seldom more than one."""
        self.entered = functools.lru_cache(maxsize=0)(enters)
        """Calls it. The cache keeps nothing, and counts."""

    @property
    def count(self) -> int:
        return self.entered.cache_info().misses


class UnguardedCalls:
    """The counts of this process."""

    def __init__(self) -> None:
        self.hooks: list[HookState] = []
        """What the counts depend on."""
        self._entries: dict[Callable[[], Any], _Entries] = {}
        """By what counts."""
        self._of: defaultdict[FunctionCode, list[_Entries]] = defaultdict(list)
        self._skipped: dict[FunctionCode, int] = {}
        """A function that is skipped → its calls until then."""
        self._ended = 0
        """Calls of functions that were skipped, and of which Dynamo was asked again after `torch._dynamo.reset()`."""
        self.uncounted: set[FunctionCode] = set()
        """Functions that run eagerly, and of whose calls nothing tells."""
        nothing: dict[Any, None] = {}
        # Called with the context. The cache keeps nothing, and counts.
        self.callback = functools.lru_cache(maxsize=0)(nothing.get)

    @property
    def is_whole(self) -> bool:
        """False if some calls were not counted."""
        return len(self._entries) < _MOST and not any(hook.state != "installed" for hook in self.hooks)

    @property
    def skipped(self) -> int:
        """Calls of functions given to torch.compile after the one in which they were skipped."""
        return self._ended + sum(self._calls(code) - before for code, before in self._skipped.items())

    @property
    def disabled(self) -> int:
        """Calls of disabled functions that are not torch's."""
        return self.callback.cache_info().misses

    def enters(self, context: Any, function: Any) -> None:
        """`torch.compile` was given a function or module; it calls what is in a list of `context` at each call."""
        code, hooks = _code_of(function), context.enter_exit_hooks
        if code is None or len(self._entries) >= _MOST:
            return
        entries = next((self._entries[hook] for hook in hooks if hook in self._entries), None)
        if entries is None:
            # In the place of a function that is there: what these return stands among the locals of a traceback.
            entries = _Entries(code, hooks[0] if hooks else _does_nothing_at_the_end)
            self._entries[entries.entered] = entries
            hooks[:1] = [entries.entered]
        entries.codes.add(code)
        self._of[code].append(entries)

    def skips(self, code: FunctionCode) -> None:
        """Dynamo does not compile this function, and may not be asked about it again."""
        if code in self._of:
            self._skipped.setdefault(code, self._calls(code))
        elif len(self.uncounted) < _MOST and not is_library(code.file):
            self.uncounted.add(code)

    def looks(self, code: FunctionCode) -> None:
        """Dynamo is asked about this function."""
        before = self._skipped.pop(code, None)
        if before is not None:
            self._ended += max(self._calls(code) - before - 1, 0)

    def _calls(self, code: FunctionCode) -> int:
        return sum(one.count for one in {id(one): one for one in self._of[code]}.values() if one.codes == {code})


UNGUARDED = UnguardedCalls()


def install(probes: Probes) -> None:
    """Hook the making of compiled and of disabled functions."""
    disables = names.DISABLES.load()
    # In all that it does and says it is torch's class, but for the reading of one attribute, which is None.
    remade = object().__reduce_ex__(1)[0]  # Python's own function for it
    counting = type(
        disables.__name__,
        (disables,),
        {
            "callback": property(UNGUARDED.callback),
            "__reduce_ex__": lambda context, _: (remade, (disables, object, None), vars(context)),
            "__module__": disables.__module__,
            "__qualname__": disables.__qualname__,
        },
    )

    def compiled(state: Any, context: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> None:
        UNGUARDED.enters(context, argument(args, kwargs, 0, "fn"))

    def disabled(state: Any, context: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> None:
        code = _code_of(argument(args, kwargs, 0, "fn"))
        if code is not None and type(context) is disables and context.callback is None:
            context.__class__ = counting

    UNGUARDED.hooks += (
        probes.wrap(PROBE, names.COMPILES, after=compiled),
        probes.wrap(PROBE, names.DISABLED, after=disabled),
    )


def install_alone(probes: Probes) -> None:
    """Hook the making of functions that are disabled without what they call: nothing is read in their calls."""

    def disabled(state: Any, instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> None:
        code = _code_of(argument(args, kwargs, 0, "fn"))
        if code is not None:
            UNGUARDED.uncounted.add(code)

    UNGUARDED.hooks += (probes.wrap(PROBE, names.DISABLED_ALONE, after=disabled),)


def _code_of(given: Any) -> FunctionCode | None:
    """What runs when a function or module is called; None if it is torch's, or not known without running the
    program's code.
    """
    while type(given) is types.FunctionType and ORIGINAL in vars(given):
        given = vars(given)[ORIGINAL]
    if type(given) is types.MethodType:
        given = given.__self__ if issubclass(type(given.__self__), torch.nn.Module) else given.__func__
    if issubclass(type(given), torch.nn.Module):
        given = vars(given).get("forward") or inspect.getattr_static(type(given), "forward", None)
        given = given.__func__ if type(given) is types.MethodType else given
    if type(given) is not types.FunctionType:
        return None
    file = given.__code__.co_filename
    is_generated = file.startswith("<") and is_library(file)
    return None if is_generated or values.is_torch_file(file) else FunctionCode.of(given.__code__)

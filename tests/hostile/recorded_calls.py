"""Dumps with profiles of their calls, of any length: made to be slow to join."""

import functools
import itertools
import random
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from inspect_compile.facts import Fact, Graph, Kernel
from inspect_compile.profiles import GpuRun, HostCall, Profile, Span

Steps = Sequence[str]
GEMM: Final = "nvjet_hsh_128x128"
COPY: Final = "memcpy32_post"


def triton(number: int, words: str = "add_mul") -> str:
    return f"triton_poi_fused_{words}_{number}"


def launching(name: str, steps: Steps, compile_id: str = "0/0", kind: str = "inference") -> Iterator[Fact]:
    """A graph that launches these kernels: extern ones by the name that the profiler gives them."""
    yield Graph(graph=name, kind=kind, compile_id=compile_id)
    for line, step in enumerate(steps, 1):
        is_extern = "::" in step
        yield Kernel(
            graph=name,
            name=step.replace("aten::", "extern_kernels.").replace("mine::", "torch.ops.mine."),
            kind="extern" if is_extern else "triton",
            device="cuda",
            groups=(f"op{line}",),
            operations=(f"op{line}",),
            launches=(line,),
        )


class Recorded:
    """A profile that is made call by call, on one thread and one stream."""

    def __init__(self) -> None:
        self.profile = Profile("torch.profiler", [], [], [])
        self._clock = 0.0
        self._numbers = itertools.count(1)

    def _tick(self) -> float:
        self._clock += 1.0
        return self._clock

    def run(self, name: str, correlation: int | None = None) -> None:
        """A kernel on the GPU."""
        runs = self.profile.runs
        runs.append(GpuRun(len(runs), "kernel", name, self._tick(), 0.5, correlation=correlation))

    def span(self, name: str, inside: Callable[[], object] = lambda: None, **more: int) -> None:
        """A range on the CPU, and what is inside."""
        start, place = self._tick(), len(self.profile.spans)
        inside()
        thread = more.pop("thread", 1)
        self.profile.spans.insert(place, Span(name, start, self._tick(), thread, **more))

    def launch(self, kernel: str, call: str = "cudaLaunchKernel") -> int:
        """The call that starts a kernel."""
        number = next(self._numbers)
        self.profile.calls.append(HostCall(call, self._tick(), 1, number))
        if kernel:
            self.run(kernel, number)
        return number

    def operators(self, steps: Steps) -> None:
        """Operators, and the kernel that each starts."""
        for step in steps:
            self.span(step, functools.partial(self.launch, GEMM if "::" in step else step))

    def graph(self, steps: Steps, **more: int) -> None:
        """A call of a compiled graph."""
        self.span("## Call CompiledFxGraph abc ##", lambda: self.operators(steps), **more)

    def call(self, steps: Steps, compile_id: str = "0/0") -> None:
        """The same within its frame."""
        self.span(f"Torch-Compiled Region: {compile_id}", lambda: self.graph(steps))

    def backward(self, steps: Steps, sequence: int, of_thread: int) -> None:
        """A call of a backward."""
        self.span("CompiledFunctionBackward", lambda: self.graph(steps), sequence=sequence, forward_thread=of_thread)

    def replay(self, kernels: Steps) -> None:
        """A replay of a CUDA graph that no range is around."""
        number = self.launch("", "cudaGraphLaunch")
        for name in kernels:
            self.run(name, number)


Made = tuple[list[Fact], Profile]


def _as_planned(n: int) -> Made:
    steps = [triton(i) if i % 3 else "aten::mm" for i in range(n)]
    found = Recorded()
    found.call(steps)
    return [*launching("model__0_inference_0.0", steps)], found.profile


def _renamed(n: int) -> Made:
    steps = [triton(i) if i % 3 else "aten::mm" for i in range(n)]
    found = Recorded()
    found.call([triton(i, "add_mul_sub" if i % 5 == 0 else "add_mul") if i % 3 else "aten::mm" for i in range(n)])
    return [*launching("model__0_inference_0.0", steps)], found.profile


def _repeated(n: int) -> Made:
    """One kernel, launched over and over, between operators of which one is missing."""
    steps = [("aten::mm", triton(0), "aten::bmm", triton(1))[i % 4] for i in range(4 * n)]
    found = Recorded()
    found.call([*steps[:2], *steps[3:]])
    return [*launching("model__0_inference_0.0", steps)], found.profile


def _out_of_order(n: int) -> Made:
    steps = [triton(i) if i % 2 else f"mine::f{i}" for i in range(n)]
    other = steps.copy()
    random.Random(0).shuffle(other)
    found = Recorded()
    found.call(other)
    return [*launching("model__0_inference_0.0", steps)], found.profile


def _nested(n: int) -> Made:
    steps = [triton(i) for i in range(n)]
    found = Recorded()
    found.call(steps[:-1])
    name = "model__0_inference_0.0"
    return [*launching(name, steps[: n // 2]), *launching(f"{name}/true_graph_0", steps[n // 2 :])], found.profile


def _calls(n: int) -> Made:
    steps = (triton(0), "aten::mm", triton(1))
    found = Recorded()
    for _ in range(n):
        found.call(steps)
    return [*launching("model__0_inference_0.0", steps)], found.profile


def _calls_that_differ(n: int) -> Made:
    found = Recorded()
    for i in range(n):
        found.call((triton(0), triton(i + 1)))
    return [*launching("model__0_inference_0.0", (triton(0), triton(1)))], found.profile


def _graphs(n: int) -> Made:
    found, facts = Recorded(), list[Fact]()
    for i in range(n):
        facts += launching(f"model__{i}_inference_{i}.0", (triton(i), triton(0)), f"{i}/0")
        found.call((triton(i), triton(0)), f"{i}/0")
    return facts, found.profile


def _graphs_of_one_id(n: int) -> Made:
    """A program that resets the compiler between its graphs."""
    found, facts = Recorded(), list[Fact]()
    for i in range(n):
        facts += launching(f"model__{i}_inference_{i}.0", (triton(i),), f"0/0#{i}" if i else "0/0")
        found.call((triton(i),))
    return facts, found.profile


def _graphs_of_one_frame(n: int) -> Made:
    """The buckets of DistributedDataParallel: one compile with many graphs, which its frame calls in order."""
    found, facts = Recorded(), list[Fact]()
    for i in range(n):
        facts += launching(f"model__{i}_inference_{i}.0", (triton(0), "aten::mm"))

    def each() -> None:
        for _ in range(n):
            found.graph((triton(0), "aten::mm"))

    found.span("Torch-Compiled Region: 0/0", each)
    return facts, found.profile


def _backwards(n: int) -> Made:
    """Backwards of which no forward is known."""
    found, facts = Recorded(), list[Fact]()
    for i in range(n):
        facts += launching(f"model__{i}_backward_{i}.0", (triton(i),), f"{i}/0", kind="backward")
        found.backward((triton(i), triton(i + n)), i, 1)
    return facts, found.profile


def _threads(n: int) -> Made:
    """Each thread calls a forward with the same number of autograd's, and each has a backward."""
    steps = (triton(0),)
    found = Recorded()
    for i in range(n):
        graph = functools.partial(found.graph, (), thread=i + 2)
        found.span("CompiledFunction", graph, thread=i + 2, sequence=7)
        found.backward(steps, 7, i)
    return [*launching("model__0_backward_0.0", steps, kind="backward")], found.profile


def _stream(n: int) -> Made:
    """Runs alone, without anything of the CPU."""
    steps = [triton(i) if i % 3 else "aten::mm" for i in range(n)]
    found = Recorded()
    for step in [*steps, *steps]:
        found.run(GEMM if "::" in step else step)
    return [*launching("model__0_inference_0.0", steps)], found.profile


def _stream_of_one_name(n: int) -> Made:
    """As with config.triton.unique_kernel_names off; what is in the code never ran to its end."""
    found = Recorded()
    for _ in range(2 * n):
        found.run("triton_")
    return [*launching("model__0_inference_0.0", (*["triton_"] * n, "triton_last"))], found.profile


def _edges(n: int) -> Made:
    """Many kernels of libraries before and after the only one that has a name."""
    steps = [*["aten::mm"] * n, triton(0), *(f"mine::f{i}" for i in range(n))]
    found = Recorded()
    for _ in range(2):
        for step in steps:
            found.run(GEMM if "mm" in step else "at::native::f" if "::" in step else step)
    return [*launching("model__0_inference_0.0", steps)], found.profile


def _replays(n: int) -> Made:
    found, facts = Recorded(), list[Fact]()
    for i in range(n):
        facts += launching(f"model__{i}_inference_{i}.0", (triton(i), "aten::mm"), f"{i}/0")
        found.replay((triton(i), GEMM))
    return facts, found.profile


def _long_replay(steps: Steps, kernels: Steps) -> Made:
    found = Recorded()
    found.replay(kernels)
    return [*launching("model__0_inference_0.0", steps)], found.profile


PROFILES: Final[dict[str, Callable[[int], Made]]] = {
    "launches as planned": _as_planned,
    "launches with other names": _renamed,
    "one kernel over and over": _repeated,
    "launches out of order": _out_of_order,
    "launches of nested graphs": _nested,
    "calls": _calls,
    "calls that differ": _calls_that_differ,
    "graphs": _graphs,
    "graphs of one compile id": _graphs_of_one_id,
    "graphs of one frame": _graphs_of_one_frame,
    "backwards": _backwards,
    "threads": _threads,
    "a stream": _stream,
    "a stream of one name": _stream_of_one_name,
    "kernels of libraries on a stream": _edges,
    "replays": _replays,
    "a replay of matmuls": lambda n: _long_replay(["aten::mm"] * n, [GEMM, COPY] * n),
    "a replay of unknown operators": lambda n: _long_replay([f"mine::f{i}" for i in range(n)], ["mine"] * 2 * n),
    "a replay of Triton kernels": lambda n: _long_replay([triton(i) for i in range(n)], [triton(i) for i in range(n)]),
}

"""A dump of any size with the schedule that Inductor makes of GPT-2 on a CPU, layer for layer."""

from pathlib import Path

from inspect_compile.dump import Writer
from inspect_compile.facts import Access, Graph, GraphEnd, Kernel, Location, Node, Operation, Run, Tensor, WrapperLine

GRAPH = "model__0_inference_0.0"
HIDDEN, TOKENS = 64, 64
ACTIVATION, ROW = HIDDEN * TOKENS * 4, TOKENS * 4
NODES_IN_TWO_LAYERS = 23
"""Scheduler nodes after fusion; the residual is stored after every second layer."""


class Schedule:
    """Operations in order, those fused, and the kernels around them."""

    def __init__(self) -> None:
        self.before: list[Operation] = []
        self.groups: list[list[Operation]] = []
        self.kernels: list[tuple[str, list[list[Operation]]]] = []
        self.nodes: list[Node] = []
        self.sizes: dict[str, int] = {}

    def operation(self, kind: str, what: str, line: int, reads: list[str], size: int) -> Operation:
        number = len(self.before)
        name, buffer = f"op{number}", f"buf{number}"
        self.sizes[buffer] = size
        if kind == "extern":
            node_type, ir_type = "ExternKernelSchedulerNode", "MultiOutput" if what == "item" else "ExternKernelOut"
        else:
            node_type, ir_type = "SchedulerNode", f"ComputedBuffer({kind.capitalize()})"
        where = Location("/home/me/model.py", line, "forward", f"x = {what}(x)")
        node = f"{what}_{number}"
        self.nodes.append(
            Node(
                graph=GRAPH,
                stage="post_grad",
                index=number,
                name=node,
                op="call_function",
                target=f"aten.{what}.default",
                where=where,
            )
        )
        made = Operation(
            graph=GRAPH,
            phase="pre_fusion",
            order=number,
            name=name,
            kind=kind,
            node_type=node_type,
            ir_type=ir_type,
            device="cpu",
            members=(name,),
            buffers=(buffer,),
            numel="" if kind == "extern" else str(size // 4),
            rnumel="64" if kind == "reduction" else "1",
            reads=tuple(self._access(kind, read, self.sizes.get(read, 4 * HIDDEN)) for read in reads),
            writes=(self._access(kind, buffer, size),),
            predecessors=tuple(f"op{read[3:]}" for read in reads if read.startswith("buf")),
            nodes=(node,),
            extern_kernel=what if kind == "extern" else None,
        )
        self.before.append(made)
        return made

    @staticmethod
    def _access(kind: str, buffer: str, size: int) -> Access:
        if kind == "extern":
            return Access(buffer, None, (), "star", size)
        return Access(buffer, "64*c0 + c1", ("c0=64", f"c1={size // 256}"), "memory", size)

    def extern(self, what: str, line: int, reads: list[str], size: int = ACTIVATION) -> str:
        made = self.operation("extern", what, line, reads, size)
        self.groups.append([made])
        if what != "item":
            self.kernels.append((f"extern_kernels.{what}", [[made]]))
        return made.buffers[0]

    def layer_norm(self, line: int, reads: list[str], parameters: list[str]) -> list[Operation]:
        mean = self.operation("reduction", "mean", line, reads, ROW)
        scaled = self.operation("pointwise", "scale", line, [mean.buffers[0]], ROW)
        variance = self.operation("reduction", "var", line, [*reads, scaled.buffers[0]], ROW)
        last = [*reads, scaled.buffers[0], variance.buffers[0], *parameters]
        return [mean, scaled, variance, self.operation("pointwise", "normalize", line, last, ACTIVATION)]

    def kernel(self, what: str, *groups: list[Operation]) -> str:
        self.groups += groups
        self.kernels.append((f"cpp_fused_{what}_{len(self.kernels)}", list(groups)))
        return groups[-1][-1].buffers[0]

    def layer(self, number: int, x: str, residuals: list[str]) -> str:
        def parameters(what: str) -> list[str]:
            return [f"layer{number}_{what}_weight", f"layer{number}_{what}_bias"]

        qkv = self.extern("addmm", 10, [x, *parameters("qkv")], 3 * ACTIVATION)
        keys, values = (self.operation("pointwise", what, 11, [qkv], ACTIVATION) for what in ("keys", "values"))
        self.kernel("cat_split_transpose_view", [keys], [values])
        attention = self.extern("flash_attention", 12, [qkv, keys.buffers[0], values.buffers[0]])
        part = self.extern("item", 12, [attention])
        residuals.append(self.extern("addmm", 13, [part, *parameters("projection")]))
        x = self.kernel("add_native_layer_norm_view", self.layer_norm(14, residuals, parameters("ln_2")))
        x = self.extern("addmm", 15, [x, *parameters("up")], 4 * ACTIVATION)
        gelu = self.operation("pointwise", "gelu", 16, [x], 4 * ACTIVATION)
        x = self.kernel("add_mul_pow_tanh_view", [gelu])
        residuals.append(self.extern("addmm", 17, [x, *parameters("down")]))
        groups = []
        if number % 2:
            groups = [[self.operation("pointwise", "add", 18, residuals, ACTIVATION)]]
            residuals[:] = [groups[0][0].buffers[0]]
        return self.kernel("add_native_layer_norm_view", *groups, self.layer_norm(9, residuals, parameters("ln_1")))


def write_transformer(root: Path, layers: int) -> int:
    """Write the dump to `root`; returns how many scheduler nodes there are after fusion."""
    schedule = Schedule()
    residuals = [schedule.operation("pointwise", "embedding", 7, ["tokens", "wte", "wpe"], ACTIVATION).buffers[0]]
    x = schedule.kernel("embedding", [schedule.before[0]], schedule.layer_norm(9, residuals, ["ln_weight", "ln_bias"]))
    for number in range(layers):
        x = schedule.layer(number, x, residuals)
    users: dict[str, list[str]] = {x: ["OUTPUT"]}
    for operation in schedule.before:
        for access in operation.reads:
            users.setdefault(access.buffer, []).append(operation.name)
    writer = Writer(root)
    writer.run(Run(status="finished", argv=("model.py",)))
    writer.add(Graph(graph=GRAPH, kind="inference", compile_id="0/0", name="model__0_inference_0", device="cpu"))
    tokens = Tensor("int64", (2, 32), (32, 1), "cpu", 512)
    placeholder = Node(
        graph=GRAPH, stage="post_grad", index=0, name="tokens", op="placeholder", target="tokens", values=(tokens,)
    )
    for node in (placeholder, *schedule.nodes):
        writer.add(node)
    for operation in schedule.before:
        writer.add(_with_users(operation, users))
    for order, members in enumerate(schedule.groups):
        writer.add(_fused(order, members, users))
    for number, (name, groups) in enumerate(schedule.kernels):
        members = [operation for group in groups for operation in group]
        line = 100 + number
        buffers = tuple(buffer for operation in members for buffer in operation.buffers)
        writer.add(
            Kernel(
                graph=GRAPH,
                name=name,
                kind="extern" if name.startswith("extern") else "cpp",
                device="cpu",
                operations=tuple(operation.name for operation in members),
                groups=tuple("_".join(operation.name for operation in group) for group in groups),
                nodes=tuple(node for operation in members for node in operation.nodes),
                launches=(line,),
            )
        )
        writer.add(WrapperLine(graph=GRAPH, index=number, what="launch", line=line, kernel=name, arguments=buffers))
    writer.add(GraphEnd(graph=GRAPH, status="compiled", seconds=1.0))
    writer.flush()
    return len(schedule.groups)


def _with_users(operation: Operation, users: dict[str, list[str]]) -> Operation:
    found = tuple(dict.fromkeys(user for buffer in operation.buffers for user in users.get(buffer, [])))
    return Operation(**{field: getattr(operation, field) for field in operation.__struct_fields__} | {"users": found})


def _fused(order: int, members: list[Operation], users: dict[str, list[str]]) -> Operation:
    first, inside = members[0], {operation.buffers[0] for operation in members}
    return Operation(
        graph=GRAPH,
        phase="post_fusion",
        order=order,
        name="_".join(operation.name for operation in members),
        kind=first.kind if len(members) == 1 else "fused",
        node_type=first.node_type if len(members) == 1 else "FusedSchedulerNode",
        ir_type=first.ir_type if len(members) == 1 else "",
        device="cpu",
        members=tuple(operation.name for operation in members),
        buffers=tuple(buffer for operation in members for buffer in operation.buffers),
        reads=tuple(access for operation in members for access in operation.reads if access.buffer not in inside),
        writes=tuple(access for operation in members for access in operation.writes),
        users=tuple(user for operation in members for buffer in operation.buffers for user in users.get(buffer, [])),
        predecessors=first.predecessors,
        nodes=tuple(node for operation in members for node in operation.nodes),
        extern_kernel=first.extern_kernel if len(members) == 1 else None,
    )

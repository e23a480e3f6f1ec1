"""Names of graphs: `model__0_forward_1.0/true_graph_0` is nested in `model__0_forward_1.0`."""


def outermost(graph: str) -> str:
    """The graph that was compiled on its own and holds `graph`, or `graph` itself."""
    return graph.partition("/")[0]


def nested_path(graph: str) -> str:
    """`true_graph_0`: where `graph` is in its outermost graph; empty for that one."""
    return graph.partition("/")[2]


def enclosing(graph: str) -> str:
    """The graph that `graph` is nested in directly; empty for an outermost one."""
    return graph.rpartition("/")[0]


def own_name(graph: str) -> str:
    """The last part of the name, without the graphs around."""
    return graph.rpartition("/")[2]

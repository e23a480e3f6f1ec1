"""Names become files that no two of them share, and that every file system takes."""

from inspect_compile.dump import paths

LONG = "triton_poi_fused__to_copy_" + "add_mul_" * 30


def test_names_with_a_common_beginning_stay_apart() -> None:
    names = [f"{LONG}where_{number}" for number in (7, 9)]
    names += [LONG[:150], LONG[:151], LONG[:150].upper(), "a/b", "a_b", "a b", ".a", "_.a", "", "_", "é", "è", "\ud800"]
    for made in (paths.safe_name, paths.cased_name):
        found = [made(name) for name in names]
        assert len(set(found)) == len(names)
        assert all(paths.is_safe(name) and len(name) <= 150 for name in found)
        assert [paths.safe_name(name) for name in found] == found


def test_names_that_differ_in_case_alone_stay_apart() -> None:
    names = ["Add_kernel_0", "add_kernel_0", "ADD_kernel_0", LONG, LONG.upper()]
    assert len({paths.cased_name(name).lower() for name in names}) == len(names)


def test_an_ordinary_name_stays_as_it_is() -> None:
    for name in ("cpp_fused_add_0", "model__0_inference_0.0", "triton_per_fused_sum_3", "XBLOCK8-w4-s1"):
        assert paths.safe_name(name) == name
    assert paths.graph_folder("model__0_inference_0.0/true_graph_0") == "torchinductor/model__0_inference_0.0"


def test_a_kernel_of_a_nested_graph_has_a_folder_of_its_own() -> None:
    graphs = (
        "model.0",
        "model.0/autotune_0",
        "model.0/true_graph_0",
        "model.0/true_graph_0/a",
        "model.0/true_graph_0_a",
    )
    assert len({paths.kernel_folder(graph, "cpp_fused_mm_0") for graph in graphs}) == len(graphs)
    assert paths.kernel_folder("model.0", "cpp_fused_mm_0") == "kernels/cpp_fused_mm_0"


def test_a_text_of_each_nested_graph_has_a_name_that_is_known_again() -> None:
    graphs = ("model.0", "model.0/true_graph_0", "model.0/while_loop/body", "model.0/" + "/".join(["deep" * 9] * 8))
    names = {paths.ir_text(name, graph) for graph in graphs for name in (paths.IR_PRE_FUSION, paths.IR_POST_FUSION)}
    assert len(names) == 2 * len(graphs)
    assert all(paths.is_ir_text(name) and len(name) < 200 for name in names)
    assert paths.ir_text(paths.IR_PRE_FUSION, "model.0/true_graph_0") == "ir_pre_fusion.true_graph_0.txt"
    for other in ("ir_pre_fusion", "ir_fusion.txt", "ir_pre_fusion..txt", "ir_pre_fusion.a b.txt", "ir_pre_fusion.py"):
        assert not paths.is_ir_text(other)

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

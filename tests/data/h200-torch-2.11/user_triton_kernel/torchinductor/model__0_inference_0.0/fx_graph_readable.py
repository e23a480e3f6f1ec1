class <lambda>(torch.nn.Module):
    def forward(self, arg0_1: "f32[1000]", arg1_1: "f32[1000]"):
        # File: /home/user/samples/user_triton_kernel.py:34 in blend, code: x = torch.sin(x)
        sin: "f32[1000]" = torch.ops.aten.sin.default(arg0_1);  arg0_1 = None

        # File: /home/user/samples/user_triton_kernel.py:35 in blend, code: out = torch.empty_like(x)
        empty: "f32[1000]" = torch.ops.aten.empty.memory_format([1000], dtype = torch.float32, layout = torch.strided, device = device(type='cuda', index=0), pin_memory = False)

        # File: /home/user/samples/user_triton_kernel.py:36 in blend, code: blend_kernel[(triton.cdiv(x.numel(), 256),)](x, y, out, x.numel(), 0.25, BLOCK=256)
        triton_kernel_wrapper_functional_proxy = torch.ops.higher_order.triton_kernel_wrapper_functional(kernel_idx = 0, constant_args_idx = 0, grid = [(4, 1, 1)], tma_descriptor_metadata = {}, kwargs = {'x_ptr': sin, 'y_ptr': arg1_1, 'out_ptr': empty}, tensors_to_clone = ['out_ptr']);  sin = arg1_1 = empty = None
        getitem: "f32[1000]" = triton_kernel_wrapper_functional_proxy['out_ptr'];  triton_kernel_wrapper_functional_proxy = None

        # File: /home/user/samples/user_triton_kernel.py:37 in blend, code: return torch.relu(out)
        relu: "f32[1000]" = torch.ops.aten.relu.default(getitem);  getitem = None
        return (relu,)

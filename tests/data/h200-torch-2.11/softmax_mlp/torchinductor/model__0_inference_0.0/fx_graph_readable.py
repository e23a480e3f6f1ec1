class <lambda>(torch.nn.Module):
    def forward(self, arg0_1: "f32[256, 64]", arg1_1: "f32[256]", arg2_1: "f32[32, 64]", arg3_1: "f32[10, 256]", arg4_1: "f32[10]"):
        # File: /home/user/samples/softmax_mlp.py:19 in forward, code: x = torch.relu(self.up(x))
        permute: "f32[64, 256]" = torch.ops.aten.permute.default(arg0_1, [1, 0]);  arg0_1 = None
        addmm: "f32[32, 256]" = torch.ops.aten.addmm.default(arg1_1, arg2_1, permute);  arg1_1 = arg2_1 = permute = None
        relu: "f32[32, 256]" = torch.ops.aten.relu.default(addmm);  addmm = None

        # File: /home/user/samples/softmax_mlp.py:20 in forward, code: return torch.softmax(self.down(x), dim=-1)
        permute_1: "f32[256, 10]" = torch.ops.aten.permute.default(arg3_1, [1, 0]);  arg3_1 = None
        addmm_1: "f32[32, 10]" = torch.ops.aten.addmm.default(arg4_1, relu, permute_1);  arg4_1 = relu = permute_1 = None
        amax: "f32[32, 1]" = torch.ops.aten.amax.default(addmm_1, [-1], True)
        sub: "f32[32, 10]" = torch.ops.aten.sub.Tensor(addmm_1, amax);  addmm_1 = amax = None
        exp: "f32[32, 10]" = torch.ops.aten.exp.default(sub);  sub = None
        sum_1: "f32[32, 1]" = torch.ops.aten.sum.dim_IntList(exp, [-1], True)
        div: "f32[32, 10]" = torch.ops.aten.div.Tensor(exp, sum_1);  exp = sum_1 = None
        return (div,)

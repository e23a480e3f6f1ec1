class <lambda>(torch.nn.Module):
    def forward(self, arg0_1: "f32[512, 64]", arg1_1: "f32[512]", arg2_1: "Sym(s2)", arg3_1: "f32[s2, 64]", arg4_1: "f32[512]", arg5_1: "f32[64, 512]", arg6_1: "f32[64]"):
        # File: walks.py:16 in forward, code: scores = gelu(self.score(x)) * self.scale
        permute: "f32[64, 512]" = torch.ops.aten.permute.default(arg0_1, [1, 0]);  arg0_1 = None
        addmm: "f32[s2, 512]" = torch.ops.aten.addmm.default(arg1_1, arg3_1, permute);  arg1_1 = arg3_1 = permute = None
        mul_2: "f32[s2, 512]" = torch.ops.aten.mul.Tensor(addmm, 0.5)
        mul_3: "f32[s2, 512]" = torch.ops.aten.mul.Tensor(addmm, 0.7071067811865476);  addmm = None
        erf: "f32[s2, 512]" = torch.ops.aten.erf.default(mul_3);  mul_3 = None
        add_3: "f32[s2, 512]" = torch.ops.aten.add.Tensor(erf, 1);  erf = None
        mul_4: "f32[s2, 512]" = torch.ops.aten.mul.Tensor(mul_2, add_3);  mul_2 = add_3 = None
        mul_7: "f32[s2, 512]" = torch.ops.aten.mul.Tensor(mul_4, arg4_1);  mul_4 = arg4_1 = None

        # File: walks.py:17 in forward, code: mixed = self.mix(scores.softmax(dim=-1))
        amax: "f32[s2, 1]" = torch.ops.aten.amax.default(mul_7, [-1], True)
        sub_3: "f32[s2, 512]" = torch.ops.aten.sub.Tensor(mul_7, amax);  amax = None
        exp: "f32[s2, 512]" = torch.ops.aten.exp.default(sub_3);  sub_3 = None
        sum_1: "f32[s2, 1]" = torch.ops.aten.sum.dim_IntList(exp, [-1], True)
        div: "f32[s2, 512]" = torch.ops.aten.div.Tensor(exp, sum_1);  exp = sum_1 = None
        permute_1: "f32[512, 64]" = torch.ops.aten.permute.default(arg5_1, [1, 0]);  arg5_1 = None
        addmm_1: "f32[s2, 64]" = torch.ops.aten.addmm.default(arg6_1, div, permute_1);  arg6_1 = div = permute_1 = None

        # File: walks.py:18 in forward, code: load = scores.sum(dim=0)
        sum_2: "f32[512]" = torch.ops.aten.sum.dim_IntList(mul_7, [0]);  mul_7 = None
        return (addmm_1, sum_2)

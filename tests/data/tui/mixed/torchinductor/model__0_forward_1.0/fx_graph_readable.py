class GraphModule(torch.nn.Module):
    def forward(self, primals_1: "f32[16, 3, 3, 3]", primals_2: "f32[16]", primals_3: "f32[4, 3, 32, 32]", primals_4: "f32[32]", primals_5: "f32[32]", primals_6: "f32[64, 32]", primals_7: "f32[64]", primals_8: "f32[32, 64]", primals_9: "f32[32]"):
        # File: mixed.py:17 in forward, code: y = torch.relu(self.conv(x))
        convolution: "f32[4, 16, 32, 32]" = torch.ops.aten.convolution.default(primals_3, primals_1, primals_2, [1, 1], [1, 1], [1, 1], False, [0, 0], 1);  primals_2 = None
        relu: "f32[4, 16, 32, 32]" = torch.ops.aten.relu.default(convolution)

        # File: mixed.py:18 in forward, code: y = self.norm(y)
        var_mean = torch.ops.aten.var_mean.correction(relu, [3], correction = 0, keepdim = True)
        getitem: "f32[4, 16, 32, 1]" = var_mean[0]
        getitem_1: "f32[4, 16, 32, 1]" = var_mean[1];  var_mean = None
        add: "f32[4, 16, 32, 1]" = torch.ops.aten.add.Tensor(getitem, 1e-05);  getitem = None
        rsqrt: "f32[4, 16, 32, 1]" = torch.ops.aten.rsqrt.default(add);  add = None
        sub: "f32[4, 16, 32, 32]" = torch.ops.aten.sub.Tensor(relu, getitem_1);  relu = None
        mul: "f32[4, 16, 32, 32]" = torch.ops.aten.mul.Tensor(sub, rsqrt);  sub = None
        mul_1: "f32[4, 16, 32, 32]" = torch.ops.aten.mul.Tensor(mul, primals_4);  mul = None
        add_1: "f32[4, 16, 32, 32]" = torch.ops.aten.add.Tensor(mul_1, primals_5);  mul_1 = primals_5 = None

        # File: mixed.py:19 in forward, code: z = self.down(gelu(self.up(y)))
        view: "f32[2048, 32]" = torch.ops.aten.view.default(add_1, [2048, 32])
        permute: "f32[32, 64]" = torch.ops.aten.permute.default(primals_6, [1, 0])
        addmm: "f32[2048, 64]" = torch.ops.aten.addmm.default(primals_7, view, permute);  primals_7 = permute = None
        view_1: "f32[4, 16, 32, 64]" = torch.ops.aten.view.default(addmm, [4, 16, 32, 64])
        mul_2: "f32[4, 16, 32, 64]" = torch.ops.aten.mul.Tensor(view_1, 0.5)
        mul_3: "f32[4, 16, 32, 64]" = torch.ops.aten.mul.Tensor(view_1, 0.7071067811865476);  view_1 = None
        erf: "f32[4, 16, 32, 64]" = torch.ops.aten.erf.default(mul_3);  mul_3 = None
        add_2: "f32[4, 16, 32, 64]" = torch.ops.aten.add.Tensor(erf, 1);  erf = None
        mul_4: "f32[4, 16, 32, 64]" = torch.ops.aten.mul.Tensor(mul_2, add_2);  mul_2 = add_2 = None
        view_2: "f32[2048, 64]" = torch.ops.aten.view.default(mul_4, [2048, 64]);  mul_4 = None
        permute_1: "f32[64, 32]" = torch.ops.aten.permute.default(primals_8, [1, 0])
        addmm_1: "f32[2048, 32]" = torch.ops.aten.addmm.default(primals_9, view_2, permute_1);  primals_9 = permute_1 = None
        view_3: "f32[4, 16, 32, 32]" = torch.ops.aten.view.default(addmm_1, [4, 16, 32, 32])

        # File: mixed.py:20 in forward, code: rows, columns = z.softmax(-1), z.softmax(-2)
        amax: "f32[4, 16, 32, 1]" = torch.ops.aten.amax.default(view_3, [-1], True)
        sub_1: "f32[4, 16, 32, 32]" = torch.ops.aten.sub.Tensor(view_3, amax)
        exp: "f32[4, 16, 32, 32]" = torch.ops.aten.exp.default(sub_1);  sub_1 = None
        sum_1: "f32[4, 16, 32, 1]" = torch.ops.aten.sum.dim_IntList(exp, [-1], True)
        div: "f32[4, 16, 32, 32]" = torch.ops.aten.div.Tensor(exp, sum_1);  exp = None
        amax_1: "f32[4, 16, 1, 32]" = torch.ops.aten.amax.default(view_3, [-2], True)
        sub_2: "f32[4, 16, 32, 32]" = torch.ops.aten.sub.Tensor(view_3, amax_1);  view_3 = None
        exp_1: "f32[4, 16, 32, 32]" = torch.ops.aten.exp.default(sub_2);  sub_2 = None
        sum_2: "f32[4, 16, 1, 32]" = torch.ops.aten.sum.dim_IntList(exp_1, [-2], True)
        div_1: "f32[4, 16, 32, 32]" = torch.ops.aten.div.Tensor(exp_1, sum_2);  exp_1 = None

        # File: mixed.py:21 in forward, code: t = (rows.transpose(-1, -2) * 2 + columns).cumsum(-1)
        permute_2: "f32[4, 16, 32, 32]" = torch.ops.aten.permute.default(div, [0, 1, 3, 2])
        mul_5: "f32[4, 16, 32, 32]" = torch.ops.aten.mul.Tensor(permute_2, 2);  permute_2 = None
        add_3: "f32[4, 16, 32, 32]" = torch.ops.aten.add.Tensor(mul_5, div_1);  mul_5 = div_1 = None
        cumsum: "f32[4, 16, 32, 32]" = torch.ops.aten.cumsum.default(add_3, -1);  add_3 = None

        # File: mixed.py:22 in forward, code: u = (y - y.mean((0, 2), keepdim=True)).abs().amax(1)
        mean: "f32[1, 16, 1, 32]" = torch.ops.aten.mean.dim(add_1, [0, 2], True)
        sub_3: "f32[4, 16, 32, 32]" = torch.ops.aten.sub.Tensor(add_1, mean);  add_1 = mean = None
        abs_1: "f32[4, 16, 32, 32]" = torch.ops.aten.abs.default(sub_3)
        amax_2: "f32[4, 32, 32]" = torch.ops.aten.amax.default(abs_1, [1]);  abs_1 = None

        # File: mixed.py:23 in forward, code: return t.sum(0), u, rows.argmax(-1)
        sum_3: "f32[16, 32, 32]" = torch.ops.aten.sum.dim_IntList(cumsum, [0]);  cumsum = None
        argmax: "i64[4, 16, 32]" = torch.ops.aten.argmax.default(div, -1);  div = None
        return (sum_3, amax_2, argmax, primals_1, primals_3, primals_4, primals_6, primals_8, convolution, getitem_1, rsqrt, view, addmm, view_2, addmm_1, amax, sum_1, amax_1, sum_2, sub_3, amax_2)

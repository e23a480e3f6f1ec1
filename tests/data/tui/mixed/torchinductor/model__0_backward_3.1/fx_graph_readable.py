class GraphModule(torch.nn.Module):
    def forward(self, primals_1: "f32[16, 3, 3, 3]", primals_3: "f32[4, 3, 32, 32]", primals_4: "f32[32]", primals_6: "f32[64, 32]", primals_8: "f32[32, 64]", convolution: "f32[4, 16, 32, 32]", getitem_1: "f32[4, 16, 32, 1]", rsqrt: "f32[4, 16, 32, 1]", view: "f32[2048, 32]", addmm: "f32[2048, 64]", view_2: "f32[2048, 64]", addmm_1: "f32[2048, 32]", amax: "f32[4, 16, 32, 1]", sum_1: "f32[4, 16, 32, 1]", amax_1: "f32[4, 16, 1, 32]", sum_2: "f32[4, 16, 1, 32]", sub_3: "f32[4, 16, 32, 32]", amax_2: "f32[4, 32, 32]", tangents_1: "f32[16, 32, 32]", tangents_2: "f32[4, 32, 32]"):
        # File: mixed.py:23 in forward, code: return t.sum(0), u, rows.argmax(-1)
        unsqueeze: "f32[1, 16, 32, 32]" = torch.ops.aten.unsqueeze.default(tangents_1, 0);  tangents_1 = None
        expand: "f32[4, 16, 32, 32]" = torch.ops.aten.expand.default(unsqueeze, [4, 16, 32, 32]);  unsqueeze = None

        # File: mixed.py:22 in forward, code: u = (y - y.mean((0, 2), keepdim=True)).abs().amax(1)
        view_4: "f32[4, 1, 32, 32]" = torch.ops.aten.view.default(amax_2, [4, 1, 32, 32]);  amax_2 = None
        abs_1: "f32[4, 16, 32, 32]" = torch.ops.aten.abs.default(sub_3)
        eq: "b8[4, 16, 32, 32]" = torch.ops.aten.eq.Tensor(view_4, abs_1);  view_4 = abs_1 = None
        view_5: "f32[4, 1, 32, 32]" = torch.ops.aten.view.default(tangents_2, [4, 1, 32, 32]);  tangents_2 = None
        sum_4: "i64[4, 1, 32, 32]" = torch.ops.aten.sum.dim_IntList(eq, [1], True)
        div_2: "f32[4, 1, 32, 32]" = torch.ops.aten.div.Tensor(view_5, sum_4);  view_5 = sum_4 = None
        mul_6: "f32[4, 16, 32, 32]" = torch.ops.aten.mul.Tensor(div_2, eq);  div_2 = eq = None
        sign: "f32[4, 16, 32, 32]" = torch.ops.aten.sign.default(sub_3);  sub_3 = None
        mul_7: "f32[4, 16, 32, 32]" = torch.ops.aten.mul.Tensor(mul_6, sign);  mul_6 = sign = None
        neg: "f32[4, 16, 32, 32]" = torch.ops.aten.neg.default(mul_7)
        sum_5: "f32[1, 16, 1, 32]" = torch.ops.aten.sum.dim_IntList(neg, [0, 2], True);  neg = None
        expand_1: "f32[4, 16, 32, 32]" = torch.ops.aten.expand.default(sum_5, [4, 16, 32, 32]);  sum_5 = None
        div_3: "f32[4, 16, 32, 32]" = torch.ops.aten.div.Scalar(expand_1, 128);  expand_1 = None
        add_4: "f32[4, 16, 32, 32]" = torch.ops.aten.add.Tensor(mul_7, div_3);  mul_7 = div_3 = None

        # File: mixed.py:21 in forward, code: t = (rows.transpose(-1, -2) * 2 + columns).cumsum(-1)
        rev: "f32[4, 16, 32, 32]" = torch.ops.prims.rev.default(expand, [3]);  expand = None
        cumsum_1: "f32[4, 16, 32, 32]" = torch.ops.aten.cumsum.default(rev, -1);  rev = None
        rev_1: "f32[4, 16, 32, 32]" = torch.ops.prims.rev.default(cumsum_1, [3]);  cumsum_1 = None
        mul_8: "f32[4, 16, 32, 32]" = torch.ops.aten.mul.Tensor(rev_1, 2)
        permute_3: "f32[4, 16, 32, 32]" = torch.ops.aten.permute.default(mul_8, [0, 1, 3, 2]);  mul_8 = None

        # File: mixed.py:19 in forward, code: z = self.down(gelu(self.up(y)))
        view_3: "f32[4, 16, 32, 32]" = torch.ops.aten.view.default(addmm_1, [4, 16, 32, 32]);  addmm_1 = None

        # File: mixed.py:20 in forward, code: rows, columns = z.softmax(-1), z.softmax(-2)
        sub_2: "f32[4, 16, 32, 32]" = torch.ops.aten.sub.Tensor(view_3, amax_1);  amax_1 = None
        exp_1: "f32[4, 16, 32, 32]" = torch.ops.aten.exp.default(sub_2);  sub_2 = None
        div_1: "f32[4, 16, 32, 32]" = torch.ops.aten.div.Tensor(exp_1, sum_2);  exp_1 = sum_2 = None
        mul_9: "f32[4, 16, 32, 32]" = torch.ops.aten.mul.Tensor(rev_1, div_1);  rev_1 = None
        sum_6: "f32[4, 16, 1, 32]" = torch.ops.aten.sum.dim_IntList(mul_9, [-2], True)
        neg_1: "f32[4, 16, 32, 32]" = torch.ops.aten.neg.default(div_1);  div_1 = None
        fma: "f32[4, 16, 32, 32]" = torch.ops.prims.fma.default(neg_1, sum_6, mul_9);  neg_1 = sum_6 = mul_9 = None
        sub_1: "f32[4, 16, 32, 32]" = torch.ops.aten.sub.Tensor(view_3, amax);  view_3 = amax = None
        exp: "f32[4, 16, 32, 32]" = torch.ops.aten.exp.default(sub_1);  sub_1 = None
        div: "f32[4, 16, 32, 32]" = torch.ops.aten.div.Tensor(exp, sum_1);  exp = sum_1 = None
        mul_10: "f32[4, 16, 32, 32]" = torch.ops.aten.mul.Tensor(permute_3, div);  permute_3 = None
        sum_7: "f32[4, 16, 32, 1]" = torch.ops.aten.sum.dim_IntList(mul_10, [-1], True)
        neg_2: "f32[4, 16, 32, 32]" = torch.ops.aten.neg.default(div);  div = None
        fma_1: "f32[4, 16, 32, 32]" = torch.ops.prims.fma.default(neg_2, sum_7, mul_10);  neg_2 = sum_7 = mul_10 = None
        add_5: "f32[4, 16, 32, 32]" = torch.ops.aten.add.Tensor(fma, fma_1);  fma = fma_1 = None

        # File: mixed.py:19 in forward, code: z = self.down(gelu(self.up(y)))
        view_6: "f32[2048, 32]" = torch.ops.aten.view.default(add_5, [2048, 32]);  add_5 = None
        permute_1: "f32[64, 32]" = torch.ops.aten.permute.default(primals_8, [1, 0]);  primals_8 = None
        permute_4: "f32[32, 64]" = torch.ops.aten.permute.default(permute_1, [1, 0]);  permute_1 = None
        mm: "f32[2048, 64]" = torch.ops.aten.mm.default(view_6, permute_4);  permute_4 = None
        permute_5: "f32[32, 2048]" = torch.ops.aten.permute.default(view_6, [1, 0])
        mm_1: "f32[32, 64]" = torch.ops.aten.mm.default(permute_5, view_2);  permute_5 = view_2 = None
        sum_8: "f32[1, 32]" = torch.ops.aten.sum.dim_IntList(view_6, [0], True);  view_6 = None
        view_7: "f32[32]" = torch.ops.aten.view.default(sum_8, [32]);  sum_8 = None
        view_8: "f32[4, 16, 32, 64]" = torch.ops.aten.view.default(mm, [4, 16, 32, 64]);  mm = None
        view_1: "f32[4, 16, 32, 64]" = torch.ops.aten.view.default(addmm, [4, 16, 32, 64]);  addmm = None
        mul_3: "f32[4, 16, 32, 64]" = torch.ops.aten.mul.Tensor(view_1, 0.7071067811865476)
        erf: "f32[4, 16, 32, 64]" = torch.ops.aten.erf.default(mul_3);  mul_3 = None
        add_2: "f32[4, 16, 32, 64]" = torch.ops.aten.add.Tensor(erf, 1);  erf = None
        mul_12: "f32[4, 16, 32, 64]" = torch.ops.aten.mul.Tensor(add_2, 0.5);  add_2 = None
        mul_13: "f32[4, 16, 32, 64]" = torch.ops.aten.mul.Tensor(view_1, view_1)
        mul_14: "f32[4, 16, 32, 64]" = torch.ops.aten.mul.Tensor(mul_13, -0.5);  mul_13 = None
        exp_2: "f32[4, 16, 32, 64]" = torch.ops.aten.exp.default(mul_14);  mul_14 = None
        mul_15: "f32[4, 16, 32, 64]" = torch.ops.aten.mul.Tensor(exp_2, 0.3989422804014327);  exp_2 = None
        mul_16: "f32[4, 16, 32, 64]" = torch.ops.aten.mul.Tensor(view_1, mul_15);  view_1 = mul_15 = None
        add_7: "f32[4, 16, 32, 64]" = torch.ops.aten.add.Tensor(mul_12, mul_16);  mul_12 = mul_16 = None
        mul_17: "f32[4, 16, 32, 64]" = torch.ops.aten.mul.Tensor(view_8, add_7);  view_8 = add_7 = None
        view_9: "f32[2048, 64]" = torch.ops.aten.view.default(mul_17, [2048, 64]);  mul_17 = None
        permute: "f32[32, 64]" = torch.ops.aten.permute.default(primals_6, [1, 0]);  primals_6 = None
        permute_8: "f32[64, 32]" = torch.ops.aten.permute.default(permute, [1, 0]);  permute = None
        mm_2: "f32[2048, 32]" = torch.ops.aten.mm.default(view_9, permute_8);  permute_8 = None
        permute_9: "f32[64, 2048]" = torch.ops.aten.permute.default(view_9, [1, 0])
        mm_3: "f32[64, 32]" = torch.ops.aten.mm.default(permute_9, view);  permute_9 = view = None
        sum_9: "f32[1, 64]" = torch.ops.aten.sum.dim_IntList(view_9, [0], True);  view_9 = None
        view_10: "f32[64]" = torch.ops.aten.view.default(sum_9, [64]);  sum_9 = None
        view_11: "f32[4, 16, 32, 32]" = torch.ops.aten.view.default(mm_2, [4, 16, 32, 32]);  mm_2 = None
        add_8: "f32[4, 16, 32, 32]" = torch.ops.aten.add.Tensor(add_4, view_11);  add_4 = view_11 = None

        # File: mixed.py:18 in forward, code: y = self.norm(y)
        mul_19: "f32[4, 16, 32, 32]" = torch.ops.aten.mul.Tensor(add_8, primals_4);  primals_4 = None
        mul_20: "f32[4, 16, 32, 32]" = torch.ops.aten.mul.Tensor(mul_19, 32)
        sum_10: "f32[4, 16, 32, 1]" = torch.ops.aten.sum.dim_IntList(mul_19, [3], True)

        # File: mixed.py:17 in forward, code: y = torch.relu(self.conv(x))
        relu: "f32[4, 16, 32, 32]" = torch.ops.aten.relu.default(convolution);  convolution = None

        # File: mixed.py:18 in forward, code: y = self.norm(y)
        sub: "f32[4, 16, 32, 32]" = torch.ops.aten.sub.Tensor(relu, getitem_1);  getitem_1 = None
        mul: "f32[4, 16, 32, 32]" = torch.ops.aten.mul.Tensor(sub, rsqrt);  sub = None
        mul_21: "f32[4, 16, 32, 32]" = torch.ops.aten.mul.Tensor(mul_19, mul);  mul_19 = None
        sum_11: "f32[4, 16, 32, 1]" = torch.ops.aten.sum.dim_IntList(mul_21, [3], True);  mul_21 = None
        mul_22: "f32[4, 16, 32, 32]" = torch.ops.aten.mul.Tensor(mul, sum_11);  sum_11 = None
        sub_5: "f32[4, 16, 32, 32]" = torch.ops.aten.sub.Tensor(mul_20, sum_10);  mul_20 = sum_10 = None
        sub_6: "f32[4, 16, 32, 32]" = torch.ops.aten.sub.Tensor(sub_5, mul_22);  sub_5 = mul_22 = None
        div_4: "f32[4, 16, 32, 1]" = torch.ops.aten.div.Tensor(rsqrt, 32);  rsqrt = None
        mul_23: "f32[4, 16, 32, 32]" = torch.ops.aten.mul.Tensor(div_4, sub_6);  div_4 = sub_6 = None
        mul_24: "f32[4, 16, 32, 32]" = torch.ops.aten.mul.Tensor(add_8, mul);  mul = None
        sum_12: "f32[32]" = torch.ops.aten.sum.dim_IntList(mul_24, [0, 1, 2]);  mul_24 = None
        sum_13: "f32[32]" = torch.ops.aten.sum.dim_IntList(add_8, [0, 1, 2]);  add_8 = None

        # File: mixed.py:17 in forward, code: y = torch.relu(self.conv(x))
        le: "b8[4, 16, 32, 32]" = torch.ops.aten.le.Scalar(relu, 0);  relu = None
        full_default: "f32[]" = torch.ops.aten.full.default([], 0.0, dtype = torch.float32, layout = torch.strided, device = device(type='cpu'), pin_memory = False)
        where: "f32[4, 16, 32, 32]" = torch.ops.aten.where.self(le, full_default, mul_23);  le = full_default = mul_23 = None
        convolution_backward = torch.ops.aten.convolution_backward.default(where, primals_3, primals_1, [16], [1, 1], [1, 1], [1, 1], False, [0, 0], 1, [False, True, True]);  where = primals_3 = primals_1 = None
        getitem_3: "f32[16, 3, 3, 3]" = convolution_backward[1]
        getitem_4: "f32[16]" = convolution_backward[2];  convolution_backward = None
        return (getitem_3, getitem_4, None, sum_12, sum_13, mm_3, view_10, mm_1, view_7)

class <lambda>(torch.nn.Module):
    def forward(self, arg0_1: "f32[256, 64]", arg1_1: "f32[256]", arg2_1: "f32[32, 64]", arg3_1: "f32[10, 256]", arg4_1: "f32[10]"):
        # File: /home/user/samples/softmax_mlp.py:19 in forward, code: x = torch.relu(self.up(x))
        permute: "f32[64, 256]" = torch.ops.aten.permute.default(arg0_1, [1, 0]);  arg0_1 = None
        mm_default: "f32[32, 256]" = torch.ops.aten.mm.default(arg2_1, permute);  arg2_1 = permute = None
        add_tensor: "f32[32, 256]" = torch.ops.aten.add.Tensor(arg1_1, mm_default);  arg1_1 = mm_default = None
        relu: "f32[32, 256]" = torch.ops.aten.relu.default(add_tensor);  add_tensor = None

        # File: /home/user/samples/softmax_mlp.py:20 in forward, code: return torch.softmax(self.down(x), dim=-1)
        permute_1: "f32[256, 10]" = torch.ops.aten.permute.default(arg3_1, [1, 0]);  arg3_1 = None
        addmm_1: "f32[32, 10]" = torch.ops.aten.addmm.default(arg4_1, relu, permute_1);  arg4_1 = relu = permute_1 = None

        # No stacktrace found for following nodes
        prepare_softmax_online_default = torch.ops.prims.prepare_softmax_online.default(addmm_1, -1)
        getitem: "f32[32, 1]" = prepare_softmax_online_default[0]
        getitem_1: "f32[32, 1]" = prepare_softmax_online_default[1];  prepare_softmax_online_default = None
        sub_tensor: "f32[32, 10]" = torch.ops.aten.sub.Tensor(addmm_1, getitem);  addmm_1 = getitem = None
        exp_default: "f32[32, 10]" = torch.ops.aten.exp.default(sub_tensor);  sub_tensor = None

        # File: /home/user/samples/softmax_mlp.py:20 in forward, code: return torch.softmax(self.down(x), dim=-1)
        div: "f32[32, 10]" = torch.ops.aten.div.Tensor(exp_default, getitem_1);  exp_default = getitem_1 = None
        return (div,)

class <lambda>(torch.nn.Module):
    def forward(self, arg0_1: "Sym(s28)", arg1_1: "f32[s28, 64]", arg2_1: "f32[512]"):
        # File: walks.py:26 in torch_dynamo_resume_in_step_at_25, code: return mixed.square().mean(), load.amax()
        pow_1: "f32[s28, 64]" = torch.ops.aten.pow.Tensor_Scalar(arg1_1, 2);  arg1_1 = None
        mean: "f32[]" = torch.ops.aten.mean.default(pow_1);  pow_1 = None
        amax: "f32[]" = torch.ops.aten.amax.default(arg2_1);  arg2_1 = None
        return (mean, amax)

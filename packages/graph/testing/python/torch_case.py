"""Runs a case of run_cases.py that was exported to PyTorch."""

import torch

torch.set_num_threads(1)
DTYPES = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16, "bool": torch.bool}


def argument(x):
    """An input as the model takes it: a tensor, or a scalar from its dtype and text."""
    if isinstance(x, torch.Tensor):
        return x.long() if x.dtype == torch.uint32 else x
    dtype, text = x
    return int(text) if dtype == "i64" else torch.tensor(float(text)).to(DTYPES.get(dtype, torch.int32))


def run(model, parallel, inputs, by, seed):
    """All results of a model, and the gradients of the first result with respect to inputs, with `seed` as
    its gradient.
    """
    inputs = {name: argument(x) for name, x in inputs.items()}
    for name in by:
        inputs[name] = inputs[name].clone().requires_grad_()
    results = list(model.Model()(parallel.Place(model.EXTENTS), **inputs).values())
    if not by:
        return results, []
    found = torch.autograd.grad(results[0], [inputs[name] for name in by], seed, allow_unused=True)
    return results, [torch.zeros_like(inputs[name]) if g is None else g for name, g in zip(by, found)]


def to_numpy(x):
    return x.detach().double().numpy()

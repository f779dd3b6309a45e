"""Tests which kernel a block gets on each device, and how CUDA's kernels are called.

Stand-ins for CUDA's operators check the arguments against PyTorch's schemas and compute on the CPU. In
packages/graph: python -m src.formats.torch.python.attention.test_kernels.
"""

import unittest
from unittest.mock import patch

import torch

from . import Attention, attention, kernels, tiles

CUDA = kernels.KERNELS["cuda"]


def dense(q, k, v, causal, scale):
    groups = q.shape[1] // k.shape[1]
    k, v = (x.repeat_interleave(groups, 1) for x in (k, v))
    s = (q * scale) @ k.mT
    if causal:
        s = s.masked_fill(~torch.ones(s.shape[-2:], dtype=torch.bool).tril(), -torch.inf)
    return s.softmax(-1) @ v, s.logsumexp(-1)


class StandIn:
    """Accepts the arguments in an operator's schema, and computes the operator's first results."""

    def __init__(self, name, rows=1):
        self.schema = getattr(torch.ops.aten, name).default._schema
        self.rows = rows
        self.calls = 0

    def __call__(self, *args, **options):
        self.calls += 1
        positional = [a for a in self.schema.arguments if not a.kwarg_only]
        named = {a.name for a in self.schema.arguments if a.kwarg_only}
        needed = sum(not a.has_default_value() for a in positional)
        if not needed <= len(args) <= len(positional) or not set(options) <= named:
            raise TypeError(f"{self.schema.name} does not take {len(args)} arguments and {set(options)}")
        for x, a in zip(args, positional):
            kind = str(a.type)
            if kind == "Tensor" and not (x is None or isinstance(x, torch.Tensor)):
                raise TypeError(f"{a.name} of {self.schema.name} must be a tensor, got {x}")
            if kind in ("bool", "float", "int") and type(x).__name__ != kind:
                raise TypeError(f"{a.name} of {self.schema.name} must be a {kind}, got {x}")
        given = {a.name: x for a, x in zip(positional, args)}
        q, k, v, causal = (given[name] for name in ("query", "key", "value", "is_causal"))
        scale = options["scale"]
        if "grad_out" not in given and "grad_out_" not in given:
            o, lse = dense(q.float(), k.float(), v.float(), causal, scale)
            lse = torch.nn.functional.pad(lse, (0, -lse.shape[-1] % self.rows), value=torch.inf)
            return (o.to(q.dtype), lse, *[None] * (len(self.schema.returns) - 2))
        return self.backward(given, q, k, v, causal, scale)

    def backward(self, given, q, k, v, causal, scale):
        dO = given.get("grad_out", given.get("grad_out_")).float()
        lse = given["logsumexp"].reshape(*q.shape[:2], -1)
        if lse.shape[-1] % self.rows != 0:
            raise ValueError("lse must have rows of 32")
        lse = lse[..., : q.shape[2]].unsqueeze(-1)
        groups = q.shape[1] // k.shape[1]
        qf, kf, vf = (x.float() for x in (q, k, v))
        k_all, v_all = (x.repeat_interleave(groups, 1) for x in (kf, vf))
        s = (qf * scale) @ k_all.mT
        if causal:
            s = s.masked_fill(~torch.ones(s.shape[-2:], dtype=torch.bool).tril(), -torch.inf)
        p = (s - lse).exp()
        delta = (given["out"].float() * dO).sum(-1, keepdim=True)
        ds = p * (dO @ v_all.mT - delta) * scale
        shared = [x.unflatten(1, (-1, groups)).sum(2) for x in (ds.mT @ qf, p.mT @ dO)]
        results = [x.to(q.dtype) for x in (ds @ k_all, *shared)]
        return (*results, *[None] * (len(self.schema.returns) - 3))


class Kernels(unittest.TestCase):
    def test_chooses_by_device_dtype_and_head_size(self):
        def chosen(capability, dtype, size):
            class Query:
                device = torch.device("cuda")
                is_cuda = True
                shape = (1, 2, 8, size)

            Query.dtype = dtype
            with patch("torch.cuda.get_device_capability", lambda device: capability):
                return kernels.kernel_of(Query)

        self.assertIs(chosen((9, 0), torch.bfloat16, 128), kernels.CUDNN)
        self.assertIs(chosen((9, 0), torch.bfloat16, 256), kernels.FLASH)
        self.assertIs(chosen((8, 6), torch.float16, 64), kernels.FLASH)
        self.assertIs(chosen((7, 5), torch.float16, 64), kernels.EFFICIENT)
        self.assertIs(chosen((9, 0), torch.float32, 64), kernels.EFFICIENT)
        self.assertIsNone(chosen((9, 0), torch.float32, 20))
        self.assertIsNone(chosen((9, 0), torch.float64, 64))
        self.assertIs(kernels.kernel_of(torch.zeros(1, 1, 1, 5)), kernels.CPU_FLASH)
        self.assertIsNone(kernels.kernel_of(torch.zeros(1, 1, 1, 5, device="meta")))

    def test_a_missing_operator_leaves_the_block_to_the_next(self):
        with patch.object(kernels.Kernel, "operators", [None, None]):
            self.assertIsNone(kernels.kernel_of(torch.zeros(1, 1, 1, 8)))

    def test_each_kernel_gives_what_tiles_give(self):
        for kernel in [*CUDA, kernels.CPU_FLASH]:
            for length in (32, 45):
                self.check(kernel, length)

    def check(self, kernel, length):
        generator = torch.Generator().manual_seed(1)
        dtype = torch.float32 if torch.float32 in kernel.dtypes else torch.bfloat16
        heads = {"q": 4, "k": 2, "v": 2, "dO": 4}
        given = [torch.randn(2, n, length, 16, generator=generator).to(dtype) for n in heads.values()]

        def run(table):
            q, k, v = (x.clone().requires_grad_() for x in given[:3])
            with patch.object(kernels, "KERNELS", table):
                o, lse = attention(Attention(right=0), q, k, v)
            with patch.object(kernels, "KERNELS", table):
                o.backward(given[3])
            return [o, lse, q.grad, k.grad, v.grad]

        rows = 32 if kernel is kernels.EFFICIENT else 1
        stands = [StandIn(kernel.name + end, rows) for end in ("", "_backward")]
        real = kernel is kernels.CPU_FLASH
        with patch.object(kernels.Kernel, "operators", kernel.operators if real else stands):
            found = run({"cpu": [kernel]})
        expected = run({})
        limit = 5e-6 if dtype == torch.float32 else 4e-2
        for x, y in zip(found, expected, strict=True):
            self.assertLessEqual(
                float((x - y).detach().abs().max()), limit * max(1.0, float(y.detach().abs().max()))
            )
        if not real:
            self.assertEqual([s.calls for s in stands], [1, 1])


if __name__ == "__main__":
    assert tiles.kernel_of is kernels.kernel_of
    unittest.main(verbosity=0)

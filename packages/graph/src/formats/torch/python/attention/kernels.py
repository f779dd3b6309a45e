"""PyTorch's attention kernels for a block. Each device has a list, with the fastest kernel first.

A kernel must return lse, and its backward pass must accept the final o and lse over all keys. The operators
are internal to PyTorch: if one is missing, the next kernel or the tiles compute the block. The calls of
CUDA's operators were checked against PyTorch's schemas, with stand-ins for the operators, but they never ran
on CUDA.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
import torch.nn.functional as F

HALVES = (torch.float16, torch.bfloat16)


@dataclass(frozen=True)
class Kernel:
    """An operator, and the tensors that it supports.

    forward(operator, q, k, v, causal, scale) returns o and lse (B, H, Sq), where lse may have extra rows at
    the end. backward(operator, dO, q, k, v, o, lse, causal, scale) returns dq, dk and dv.
    """

    name: str  # in torch.ops.aten; the backward pass has the suffix _backward
    dtypes: tuple
    forward: Callable
    backward: Callable
    multiple: int = 1  # head sizes must be a multiple of it
    largest: int = 2**30  # largest head size
    grouped: bool = True  # whether heads of q may share heads of k and v
    capability: tuple = (0, 0)  # least compute capability of a CUDA device

    @property
    def operators(self):
        return [getattr(torch.ops.aten, self.name + end, None) for end in ("", "_backward")]

    def takes(self, q):
        if q.dtype not in self.dtypes or q.shape[-1] % self.multiple != 0 or q.shape[-1] > self.largest:
            return False
        if q.is_cuda and torch.cuda.get_device_capability(q.device) < self.capability:
            return False
        return None not in self.operators

    def attend(self, q, k, v, causal, scale):
        """o and lse (B, H, Sq) of a block."""
        q, k, v = (with_dense_rows(x) for x in (q, self.all_heads(k, q), self.all_heads(v, q)))
        o, lse = self.forward(self.operators[0], q, k, v, causal, scale)
        return o, lse.flatten(2)[..., : q.shape[2]]

    def differentiate(self, dO, q, k, v, o, lse, causal, scale):
        """dq, dk and dv of a block, from the final o and lse."""
        shared = [self.all_heads(x, q) for x in (k, v)]
        q, k_all, v_all, dO, o = (with_dense_rows(x) for x in (q, *shared, dO.to(q.dtype), o.to(q.dtype)))
        given = self.backward(self.operators[1], dO, q, k_all, v_all, o, lse.contiguous(), causal, scale)
        dq, *rest = given
        return dq, *(dx.unflatten(1, (x.shape[1], -1)).sum(2) for dx, x in zip(rest, (k, v)))

    def all_heads(self, x, q):
        """k or v, repeated to as many heads as q if the operator does not support shared heads."""
        return x if self.grouped else x.repeat_interleave(q.shape[1] // x.shape[1], 1)


def with_dense_rows(x):
    """x with contiguous rows; for other strides, kernels silently give wrong results."""
    return x if x.stride(-1) == 1 else x.contiguous()


def _unused(q):
    """The random state for a call without dropout."""
    return torch.zeros((), dtype=torch.int64, device=q.device)


def _cpu(operator, q, k, v, causal, scale):
    return operator(q, k, v, 0.0, causal, scale=scale)


def _cpu_backward(operator, dO, q, k, v, o, lse, causal, scale):
    return operator(dO, q, k, v, o, lse, 0.0, causal, scale=scale)


def _flash(operator, q, k, v, causal, scale):
    return operator(q, k, v, 0.0, causal, False, scale=scale)[:2]


def _flash_backward(operator, dO, q, k, v, o, lse, causal, scale):
    at = None, None, q.shape[2], k.shape[2]  # the sequences are not packed
    return operator(dO, q, k, v, o, lse, *at, 0.0, causal, _unused(q), _unused(q), scale=scale)


def _efficient(operator, q, k, v, causal, scale):
    return operator(q, k, v, None, True, 0.0, causal, scale=scale)[:2]


def _efficient_backward(operator, dO, q, k, v, o, lse, causal, scale):
    # The kernel pads the rows of lse to a multiple of 32.
    lse = F.pad(lse, (0, -lse.shape[-1] % 32), value=torch.inf)
    wanted = [True, True, True, False]
    state = _unused(q), _unused(q), 0.0
    return operator(dO, q, k, v, None, o, lse, *state, wanted, causal, scale=scale)[:3]


def _cudnn(operator, q, k, v, causal, scale):
    return operator(q, k, v, None, True, 0.0, causal, False, scale=scale)[:2]


def _cudnn_backward(operator, dO, q, k, v, o, lse, causal, scale):
    at = None, None, q.shape[2], k.shape[2]
    state = _unused(q), _unused(q), None
    return operator(dO, q, k, v, o, lse.unsqueeze(-1), *state, *at, 0.0, causal, scale=scale)


CPU_FLASH = Kernel(
    "_scaled_dot_product_flash_attention_for_cpu",
    (torch.float32, torch.float64, *HALVES),
    _cpu,
    _cpu_backward,
)
FLASH = Kernel(
    "_scaled_dot_product_flash_attention",
    HALVES,
    _flash,
    _flash_backward,
    multiple=8,
    largest=256,
    capability=(8, 0),
)
CUDNN = Kernel(
    "_scaled_dot_product_cudnn_attention",
    HALVES,
    _cudnn,
    _cudnn_backward,
    multiple=8,
    largest=128,
    capability=(9, 0),
)
EFFICIENT = Kernel(
    "_scaled_dot_product_efficient_attention",
    (torch.float32, *HALVES),
    _efficient,
    _efficient_backward,
    multiple=8,
    grouped=False,
    capability=(5, 0),
)

# Kernels by device type, the fastest first.
KERNELS = {"cpu": [CPU_FLASH], "cuda": [CUDNN, FLASH, EFFICIENT]}


def kernel_of(q):
    """The kernel for a block of queries; None if there is none."""
    return next((kernel for kernel in KERNELS.get(q.device.type, []) if kernel.takes(q)), None)

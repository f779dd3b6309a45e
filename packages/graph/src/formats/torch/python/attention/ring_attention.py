"""Attention over ranks as an autograd function: queries stay, and keys and values travel around the ring.

In step t of W of forward, rank r computes with the keys of rank n = (r - t) mod W while these keys travel on
to rank r + 1, and merges the partial result by lse. In backward, the keys travel around again, together with
their gradients, until both are back on their own rank.
"""

import torch

from .score import finite
from .tiles import block_backward, block_forward


def _wait(works):
    for work in works:
        work.wait()


class _Keys:
    """k and v of a rank in one buffer, which is sent as one message."""

    def __init__(self, k, v):
        (self.B, self.Hk, _, self.D), (_, self.Hv, _, self.Dv) = k.shape, v.shape

    def pack(self, k, v):
        return torch.cat([k.reshape(-1), v.reshape(-1)])

    def empty(self, like, count, dtype=None):
        size = self.B * count * (self.Hk * self.D + self.Hv * self.Dv)
        return torch.zeros(size, dtype=dtype or like.dtype, device=like.device)

    def views(self, buffer, count):
        k, v = buffer.split([self.B * self.Hk * count * self.D, self.B * self.Hv * count * self.Dv])
        return k.view(self.B, self.Hk, count, self.D), v.view(self.B, self.Hv, count, self.Dv)


def _blocks(q_at, kv_at, rank, owner):
    """Pairs of a piece of queries and a piece of keys: (row, i0, ni, column, j0, nj), where row and column
    are local.
    """
    row = 0
    for i0, ni in q_at.pieces(rank):
        column = 0
        for j0, nj in kv_at.pieces(owner):
            yield row, i0, ni, column, j0, nj
            column += nj
        row += ni


class RingAttention(torch.autograd.Function):
    @staticmethod
    def forward(ctx, call, operands, ring, q_at, kv_at, q, k, v, sink, *captures):
        dtype = torch.promote_types(q.dtype, torch.float32)
        keys, W, r = _Keys(k, v), ring.size, ring.rank
        o = q.new_zeros((*q.shape[:-1], v.shape[-1]), dtype=dtype)
        lse = q.new_full(q.shape[:-1], -torch.inf, dtype=dtype)
        held, arriving = keys.pack(k, v) if W > 1 else None, None
        for t in range(W):
            n = (r - t) % W
            works = []
            if t < W - 1:
                arriving = keys.empty(k, kv_at.count((n - 1) % W))
                works = ring.rotate(held, arriving, tag=1)
            kt, vt = keys.views(held, kv_at.count(n)) if W > 1 else (k, v)
            for row, i0, ni, column, j0, nj in _blocks(q_at, kv_at, r, n):
                rows = (x.narrow(2, row, ni) for x in (q, o, lse))
                columns = (x.narrow(2, column, nj) for x in (kt, vt))
                (qp, op, lp), (kp, vp) = rows, columns
                block_forward(call, operands, qp, kp, vp, captures, row, i0, j0, op, lp)
            _wait(works)
            held = arriving
        if sink is not None:
            # The sink: a key that every query sees and that has no value.
            sink_score = sink.to(dtype).view(1, -1, 1)
            weight = torch.sigmoid(lse - sink_score).masked_fill(lse == -torch.inf, 0)
            o.mul_(weight.unsqueeze(-1))
            lse = torch.logaddexp(lse, sink_score)
        out = o.to(q.dtype)
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(q, k, v, out, lse, sink, *captures)
        ctx.parts = call, operands, ring, q_at, kv_at
        return out, lse

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, dO, dlse):
        call, operands, ring, q_at, kv_at = ctx.parts
        q, k, v, o, lse, sink, *captures = ctx.saved_tensors
        dtype, keys, W, r = lse.dtype, _Keys(k, v), ring.size, ring.rank
        dO = torch.zeros_like(o) if dO is None else dO
        # Kernels compute delta themselves, but do not support dlse.
        delta = None
        if dlse is not None or sink is not None:
            delta = (o.to(dtype) * dO.to(dtype)).sum(-1)
            delta = delta if dlse is None else delta - dlse
        dq = torch.zeros_like(q, dtype=dtype)
        needed = ctx.needs_input_grad[9:]
        by_captures = [torch.zeros_like(c, dtype=dtype) if n else None for c, n in zip(captures, needed)]
        held, arriving = keys.pack(k, v) if W > 1 else None, None
        pending = None
        for t in range(W):
            n = (r - t) % W
            before = kv_at.count((n - 1) % W)
            works = []
            if t < W - 1:
                arriving = keys.empty(k, before)
                works = ring.rotate(held, arriving, tag=1)
            kt, vt = keys.views(held, kv_at.count(n)) if W > 1 else (k, v)
            own = keys.empty(k, kv_at.count(n), dtype)
            dk, dv = keys.views(own, kv_at.count(n))
            for row, i0, ni, column, j0, nj in _blocks(q_at, kv_at, r, n):
                rows = [x.narrow(2, row, ni) for x in (q, o, lse, dO, dq)]
                kp, vp, dkp, dvp = (x.narrow(2, column, nj) for x in (kt, vt, dk, dv))
                qp, op, lp, dOp, dqp = rows
                dp = None if delta is None else delta.narrow(2, row, ni)
                sums = dqp, dkp, dvp, by_captures
                block_backward(call, operands, qp, kp, vp, captures, row, i0, j0, op, lp, dOp, dp, sums)
            if pending is not None:
                # The sums of the previous ranks for the same keys have arrived meanwhile.
                _wait(pending[0])
                own += pending[1]
                pending = None
            if W > 1:
                received = keys.empty(k, before, dtype)
                pending = ring.rotate(own, received, tag=2), received, own
            _wait(works)
            held = arriving
        if pending is not None:
            _wait(pending[0])
            dk, dv = keys.views(pending[1], kv_at.count(r))
        dsink = None
        if sink is not None:
            share = (sink.to(dtype).view(1, -1, 1) - finite(lse)).exp() * delta
            dsink = -share.sum((0, 2)).to(sink.dtype).view_as(sink)
        given = [g if g is None else g.to(c.dtype) for g, c in zip(by_captures, captures)]
        return None, None, None, None, None, dq.to(q.dtype), dk.to(k.dtype), dv.to(v.dtype), dsink, *given

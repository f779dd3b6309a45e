"""Attention over a sequence that may be cut over ranks: queries stay, keys and values go round the ring.

Forward, step t of W: rank r computes with the keys of rank n = (r - t) mod W while these travel on to rank r
+ 1, and merges what they give by lse. Backward: keys go round again, and the gradients by them travel along
until they are home. No rank ever holds all keys, and no tensor is larger than a tile of scores. One rank, or
no process group, is the same code without messages.
"""

import torch
import torch.distributed as dist

from .layout import Layout
from .tiles import Attention, Operands, block_backward, block_forward, finite

__all__ = ["Attention", "Ring", "attention", "attention_gradients"]


class Ring:
    """The ranks that share a sequence, in the order in which keys and values go round."""

    def __init__(self, group=None):
        has_group = group is not None and dist.is_initialized()
        self.group = group if has_group else None
        self.rank = dist.get_rank(group) if has_group else 0
        self.size = dist.get_world_size(group) if has_group else 1

    def turn(self, sent, received, tag):
        """Sends to the next rank and receives from the one before; wait for each of the result. Keep `sent`
        alive until then.
        """
        after, before = (self.rank + 1) % self.size, (self.rank - 1) % self.size
        return dist.batch_isend_irecv(
            [
                dist.P2POp(dist.isend, sent, group=self.group, group_peer=after, tag=tag),
                dist.P2POp(dist.irecv, received, group=self.group, group_peer=before, tag=tag),
            ]
        )


def _wait(works):
    for work in works:
        work.wait()


class _Keys:
    """k and v of a rank in one buffer, which is what travels."""

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
    """Pairs of a piece of queries and a piece of keys: (row, i0, ni, column, j0, nj), rows and columns being
    local.
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
                works = ring.turn(held, arriving, tag=1)
            kt, vt = keys.views(held, kv_at.count(n)) if W > 1 else (k, v)
            for row, i0, ni, column, j0, nj in _blocks(q_at, kv_at, r, n):
                rows = (x.narrow(2, row, ni) for x in (q, o, lse))
                columns = (x.narrow(2, column, nj) for x in (kt, vt))
                (qp, op, lp), (kp, vp) = rows, columns
                block_forward(call, operands, qp, kp, vp, captures, row, i0, j0, op, lp)
            _wait(works)
            held = arriving
        if sink is not None:
            # A key that every query sees and that has no value.
            with_sink = torch.logaddexp(lse, sink.to(dtype).view(1, -1, 1))
            o.mul_((lse - finite(with_sink)).exp().unsqueeze(-1))
            lse = with_sink
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
        # Kernels compute delta themselves, but know nothing of dlse.
        delta = None
        if dlse is not None or sink is not None:
            delta = (o.to(dtype) * dO.to(dtype)).sum(-1)
            delta = delta if dlse is None else delta - dlse
        dq = torch.zeros_like(q, dtype=dtype)
        needed = ctx.needs_input_grad[9:]
        by_captures = [torch.zeros_like(c, dtype=dtype) if n else None for c, n in zip(captures, needed)]
        held, arriving = keys.pack(k, v) if W > 1 else None, None
        turning = None
        for t in range(W):
            n = (r - t) % W
            before = kv_at.count((n - 1) % W)
            works = []
            if t < W - 1:
                arriving = keys.empty(k, before)
                works = ring.turn(held, arriving, tag=1)
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
            if turning is not None:
                # What the ranks before gave for the same keys has arrived meanwhile.
                _wait(turning[0])
                own += turning[1]
                turning = None
            if W > 1:
                received = keys.empty(k, before, dtype)
                turning = ring.turn(own, received, tag=2), received, own
            _wait(works)
            held = arriving
        if turning is not None:
            _wait(turning[0])
            dk, dv = keys.views(turning[1], kv_at.count(r))
        dsink = None
        if sink is not None:
            share = (sink.to(dtype).view(1, -1, 1) - finite(lse)).exp() * delta
            dsink = -share.sum((0, 2)).to(sink.dtype).view_as(sink)
        given = [g if g is None else g.to(c.dtype) for g, c in zip(by_captures, captures)]
        return None, None, None, None, None, dq.to(q.dtype), dk.to(k.dtype), dv.to(v.dtype), dsink, *given


def attention(
    call,
    q,
    k,
    v,
    captures=(),
    *,
    sink=None,
    dropout=None,
    keep=None,
    keep_factor=1.0,
    lengths_q=None,
    lengths_kv=None,
    ring=None,
    q_at=None,
    kv_at=None,
    first=0,
):
    """o (B, Hq, Sq, Dv) and lse (B, Hq, Sq), f32 or wider, of this rank's queries.

    q, k, v: this rank's part, (B, H, S, D). captures: what `call.score` and `call.visible` read; axes of
    queries are local, of keys whole. sink: (Hq). dropout: drawn, or keep: a mask (B|1, Hq|1, local Sq|1, Skv)
    whose kept elements are multiplied by keep_factor. lengths: (B), of sequences that are shorter than Sq and
    Skv. ring, q_at, kv_at: who shares the sequence and where its positions lie; first: the global number of
    the first batch entry. A query that sees no key gives o = 0 and lse = -inf.
    """
    ring = ring or Ring()
    q_at = q_at or Layout(q.shape[2])
    kv_at = kv_at or Layout(k.shape[2])
    if lengths_kv is not None:
        # What lies behind the end may be anything, NaN too, and 0·NaN is NaN.
        at = kv_at.positions(ring.rank, k.device)
        padded = (at >= lengths_kv.view(-1, 1)).view(k.shape[0], 1, -1, 1)
        k, v = k.masked_fill(padded, 0), v.masked_fill(padded, 0)
    extents = q.shape[1], q_at.length, kv_at.length
    operands = Operands(extents, first, dropout, keep, keep_factor, lengths_q, lengths_kv)
    return RingAttention.apply(call, operands, ring, q_at, kv_at, q, k, v, sink, *captures)


def attention_gradients(call, inputs, o_grad, lse_grad=None, **options):
    """The gradients of `attention` by (q, k, v, sink, *captures) on one rank; None by what is None or has
    none.
    """
    given = [x if x is None else x.detach().requires_grad_(x.is_floating_point()) for x in inputs]
    q, k, v, sink, *captures = given
    with torch.enable_grad():
        results = attention(call, q, k, v, captures, sink=sink, **options)
    leaves = [x for x in (q, k, v, sink, *captures) if x is not None and x.requires_grad]
    seeds = [o_grad, torch.zeros_like(results[1]) if lse_grad is None else lse_grad]
    found = iter(torch.autograd.grad(results, leaves, seeds, allow_unused=True))
    return [None if x is None or not x.requires_grad else next(found) for x in (q, k, v, sink, *captures)]

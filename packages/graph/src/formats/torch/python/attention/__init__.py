"""Attention over a sequence that may be sharded over ranks.

No rank ever holds all keys, and no intermediate tensor is larger than a tile of scores. With one rank, or
without a process group, the same code runs without messages.
"""

import torch

from .layout import Layout
from .ring import Ring
from .ring_attention import RingAttention
from .score import Attention, Operands

__all__ = ["Attention", "Ring", "attention", "attention_gradients"]


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
    """o (B, Hq, Sq, Dv) and lse (B, Hq, Sq) of this rank's queries, f32 or wider.

    For a query that sees no key, o = 0 and lse = -inf.

    q, k, v: this rank's part, (B, H, S, D).
    captures: the tensors that `call.score` and `call.visible` read; query axes are local, key axes whole.
    sink: (Hq), the score of a key that every query sees and that has no value.
    dropout: the rule that draws a mask.
    keep: a mask given instead, (B|1, Hq|1, local Sq|1, Skv); keep_factor multiplies kept probabilities.
    lengths_q, lengths_kv: (B), the lengths of sequences that are shorter than Sq and Skv.
    ring: the ranks that share the sequence; q_at, kv_at: the layouts of queries and keys on these ranks.
    first: the global index of the first batch entry.
    """
    ring = ring or Ring()
    q_at = q_at or Layout(q.shape[2])
    kv_at = kv_at or Layout(k.shape[2])
    if lengths_kv is not None:
        # Keys after the end may hold any value, even NaN, and 0·NaN is NaN.
        at = kv_at.positions(ring.rank, k.device)
        padded = (at >= lengths_kv.view(-1, 1))[:, None, :, None]
        k, v = k.masked_fill(padded, 0), v.masked_fill(padded, 0)
    extents = q.shape[1], q_at.length, kv_at.length
    operands = Operands(extents, first, dropout, keep, keep_factor, lengths_q, lengths_kv)
    return RingAttention.apply(call, operands, ring, q_at, kv_at, q, k, v, sink, *captures)


def attention_gradients(call, inputs, o_grad, lse_grad=None, **options):
    """The gradients of `attention` with respect to (q, k, v, sink, *captures) on one rank; None for an input
    that is None or has no gradient.
    """
    given = [x if x is None else x.detach().requires_grad_(x.is_floating_point()) for x in inputs]
    q, k, v, sink, *captures = given
    with torch.enable_grad():
        results = attention(call, q, k, v, captures, sink=sink, **options)
    leaves = [x for x in (q, k, v, sink, *captures) if x is not None and x.requires_grad]
    seeds = [o_grad, torch.zeros_like(results[1]) if lse_grad is None else lse_grad]
    found = iter(torch.autograd.grad(results, leaves, seeds, allow_unused=True))
    return [None if x is None or not x.requires_grad else next(found) for x in (q, k, v, sink, *captures)]

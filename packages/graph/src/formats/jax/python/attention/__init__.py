"""Attention over a sequence that may be sharded over ranks.

A rank stores q, k, v, o and lse of its own positions, and no intermediate tensor is larger than a tile of
scores. With one rank, the same code runs without messages.
"""

from dataclasses import replace

import jax
import jax.numpy as jnp

from ..philox import wide
from .ring import Ring
from .ring_attention import is_trained, ring_attention
from .score import Attention, Setup

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
    first=0,
):
    """o (B, Hq, Sq, Dv) and lse (B, Hq, Sq) of this rank's queries, in f32.

    For a query that sees no key, o = 0 and lse = -inf.

    q, k, v: this rank's part, (B, H, S, D).
    captures: the tensors that `call.score` and `call.visible` read; query axes are local, key axes whole.
    sink: (Hq), the score of a key that every query sees and that has no value.
    dropout: the rule that draws a mask.
    keep: a mask given instead, (B|1, Hq|1, local Sq|1, Skv); keep_factor multiplies kept probabilities.
    lengths_q, lengths_kv: (B), the lengths of sequences that are shorter than Sq and Skv.
    ring: the ranks that share the sequence.
    first: the global index of the first batch entry.
    """
    ring = ring or Ring()
    if lengths_kv is not None:
        # Keys after the end may hold any value, even NaN, and 0·NaN is NaN.
        at = ring.position(ring.rank(), jnp.arange(k.shape[2]), k.shape[2])
        inside = (at < lengths_kv.reshape(-1, 1)).reshape(k.shape[0], 1, -1, 1)
        k, v = jnp.where(inside, k, 0), jnp.where(inside, v, 0)
    given = {"keep": keep, "lengths_q": lengths_q, "lengths_kv": lengths_kv}
    operands = {"first": jnp.asarray(first), **{name: x for name, x in given.items() if x is not None}}
    if dropout is not None:
        for name in ("seed", "offset"):
            high, low = wide(getattr(dropout, name))
            operands[name] = jnp.stack([jnp.asarray(low), jnp.asarray(high)])
        known = dropout.offset if isinstance(dropout.offset, int) else 1
        dropout = replace(dropout, seed=0, offset=known)
    scale = q.shape[-1] ** -0.5 if call.scale is None else call.scale
    extents = q.shape[1], q.shape[2] * ring.size, k.shape[2] * ring.size
    setup = Setup(replace(call, scale=None), ring, dropout, float(keep_factor), *extents)
    scaled = q.astype(jnp.float32) * scale
    captures = tuple(jnp.asarray(c) for c in captures)
    o, lse = ring_attention(setup, scaled, k, v, sink, captures, operands)
    return o.astype(q.dtype), lse


def attention_gradients(call, inputs, o_grad, lse_grad=None, **options):
    """The gradients of `attention` with respect to (q, k, v, sink, *captures) on one rank; None for an input
    that is None or has no gradient.
    """
    given = [n for n, x in enumerate(inputs) if x is not None and is_trained(x)]

    def run(*own):
        q, k, v, sink, *captures = (dict(zip(given, own)).get(n, x) for n, x in enumerate(inputs))
        return attention(call, q, k, v, captures, sink=sink, **options)

    (_, lse), differentiate = jax.vjp(run, *(inputs[n] for n in given))
    found = differentiate((o_grad, jnp.zeros_like(lse) if lse_grad is None else lse_grad))
    by_place = dict(zip(given, found))
    return [by_place.get(n) for n in range(len(inputs))]

"""Attention over devices with a custom backward pass: queries stay, and keys and values travel around the
ring.

It runs inside `shard_map`. In step t of W, rank r computes with the keys of rank n = (r - t) mod W and passes
these keys to the next rank by `ppermute`. In backward, the keys travel around again, together with their
gradients, until both are back on their own rank.
"""

from functools import partial

import jax
import jax.numpy as jnp
from jax import lax

from .score import dropped, finite, scores
from .tiles import cut_rows, grouped, over_tiles, summed, with_rows


def forward(setup, q, k, v, sink, captures, operands):
    """o and lse of this rank's queries, in f32; q is already scaled.

    Over all tiles, m is the largest score of a query, l = Σ e^(s - m) and o = Σ e^(s - m)·keep·v. The
    division by l comes last (Dao, "FlashAttention-2", 2023, §3.1.1). Weights relative to the running lse
    instead would carry the rounding of lse into o at each tile.
    """
    rows = q.shape[:-1]
    m, l = jnp.full(rows, -jnp.inf, jnp.float32), jnp.zeros(rows, jnp.float32)
    if sink is not None:
        # The sink: a key that every query sees and that has no value.
        m, l = jnp.broadcast_to(sink.astype(jnp.float32).reshape(1, -1, 1), rows), jnp.ones(rows, jnp.float32)
    o = jnp.zeros((*rows, v.shape[-1]), jnp.float32)

    def step(t, carry):
        (k, v), *sums = carry
        arriving = setup.ring.rotate((k, v))

        def compute(sums, tile, row, rows, column, columns):
            own_m, own_l, own_o = (cut_rows(x, row, rows) for x in sums)
            kt, vt = (cut_rows(x, column, columns).astype(jnp.float32) for x in (k, v))
            s = scores(setup, operands, grouped(cut_rows(q, row, rows), kt.mT), tile, captures)
            largest = jnp.maximum(own_m, s.max(-1))
            p = jnp.exp(s - finite(largest)[..., None])
            before = jnp.exp(own_m - finite(largest))
            keep = dropped(setup, operands, tile)
            own_l = own_l * before + p.sum(-1)
            own_o = own_o * before[..., None] + grouped(p if keep is None else p * keep, vt)
            return tuple(with_rows(x, own, row) for x, own in zip(sums, (largest, own_l, own_o)))

        owner = (setup.ring.rank() - t) % setup.ring.size
        return arriving, *over_tiles(setup, operands, q, k, owner, tuple(sums), compute)

    _, m, l, o = lax.fori_loop(0, setup.ring.size, step, ((k, v), m, l, o))
    seen = jnp.where(l == 0, 1.0, l)
    return o / seen[..., None], m + jnp.log(seen)


def is_trained(x):
    return jnp.issubdtype(x.dtype, jnp.floating)


def backward(setup, q, k, v, sink, captures, operands, o, lse, dO, dlse):
    """The gradients of q, k, v, sink and the captures; None for captures without a gradient.

    With p = e^(s - lse) and p' = p∘keep: dV = p'ᵀ·dO, dP = dO·vᵀ∘keep, ds = p∘(dP - rowsum(o∘dO) + dlse).
    """
    delta = (o * dO).sum(-1) - jnp.where(lse == -jnp.inf, 0.0, dlse)
    trained = [n for n, c in enumerate(captures) if is_trained(c)]
    by_captures = tuple(jnp.zeros(captures[n].shape, jnp.float32) for n in trained)
    grads = tuple(jnp.zeros(x.shape, jnp.float32) for x in (k, v))

    def step(t, carry):
        (k, v), (dk, dv), dq, by_captures = carry
        arriving = setup.ring.rotate((k, v))

        def compute(carry, tile, row, rows, column, columns):
            dq, dk, dv, by_captures = carry
            qt, dOt = cut_rows(q, row, rows), cut_rows(dO, row, rows)
            kt, vt = (cut_rows(x, column, columns).astype(jnp.float32) for x in (k, v))
            raw = grouped(qt, kt.mT)

            def program(raw, *own):
                given = dict(zip(trained, own))
                return scores(setup, operands, raw, tile, [given.get(n, c) for n, c in enumerate(captures)])

            s, differentiate = jax.vjp(program, raw, *(captures[n] for n in trained))
            p = jnp.exp(s - finite(cut_rows(lse, row, rows))[..., None])
            keep = dropped(setup, operands, tile)
            dP = grouped(dOt, vt.mT)
            ds = p * ((dP if keep is None else dP * keep) - cut_rows(delta, row, rows)[..., None])
            own_dv = summed(p if keep is None else p * keep, dOt, v.shape[1])
            draw, *own = differentiate(ds)
            own_dk, own_dq = summed(draw, qt, k.shape[1]), grouped(draw, kt)
            return (
                with_rows(dq, cut_rows(dq, row, rows) + own_dq, row),
                with_rows(dk, cut_rows(dk, column, columns) + own_dk, column),
                with_rows(dv, cut_rows(dv, column, columns) + own_dv, column),
                tuple(x + g for x, g in zip(by_captures, own)),
            )

        owner = (setup.ring.rank() - t) % setup.ring.size
        carry = over_tiles(setup, operands, q, k, owner, (dq, dk, dv, by_captures), compute)
        dq, dk, dv, by_captures = carry
        # After as many steps as there are ranks, keys and their gradients are back on their own rank.
        return arriving, setup.ring.rotate((dk, dv)), dq, by_captures

    start = (k, v), grads, jnp.zeros(q.shape, jnp.float32), by_captures
    _, (dk, dv), dq, by_captures = lax.fori_loop(0, setup.ring.size, step, start)
    dsink = None
    if sink is not None:
        share = jnp.exp(sink.astype(jnp.float32).reshape(1, -1, 1) - finite(lse)) * delta
        dsink = -share.sum((0, 2)).astype(sink.dtype).reshape(sink.shape)
    found = dict(zip(trained, by_captures))
    given = tuple(found[n].astype(c.dtype) if n in found else None for n, c in enumerate(captures))
    return dq, dk.astype(k.dtype), dv.astype(v.dtype), dsink, given


@partial(jax.custom_vjp, nondiff_argnums=(0,))
def ring_attention(setup, q, k, v, sink, captures, operands):
    return forward(setup, q, k, v, sink, captures, operands)


def _forward_rule(setup, *inputs):
    o, lse = forward(setup, *inputs)
    return (o, lse), (*inputs, o, lse)


def _backward_rule(setup, kept, given):
    dq, dk, dv, dsink, by_captures = backward(setup, *kept, *given)
    return dq, dk, dv, dsink, by_captures, None


ring_attention.defvjp(_forward_rule, _backward_rule)

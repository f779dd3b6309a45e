"""Attention over a sequence that may be cut over ranks: queries stay, keys and values go round the ring.

Inside `shard_map`, step t of W: rank r computes with the keys of rank n = (r - t) mod W and hands them on by
`ppermute`, merging what they give by lse. Backward: keys go round again, and the gradients by them travel
along until they are home. A rank keeps q, k, v, o and lse of its own positions, and no tensor is larger than
a tile of scores. One rank is the same code without messages.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from .philox import Dropout, add, times, wide

__all__ = ["Attention", "Ring", "attention", "attention_gradients"]

TILE = 512


@dataclass(frozen=True)
class Attention:
    """What happens to a score, in this order: scale, `score`, masks. All indices are global.

    scale: multiplies q·k, 1/sqrt(D) where None. score(s, tile, captures): scores from scores. visible(tile,
    captures): bool, broadcast to the scores. left, right: query i sees the keys from i + diagonal - left to i
    + diagonal + right; None: no bound. bottom_right: the diagonal is Skv - Sq instead of 0, or with lengths
    that of each sequence.
    """

    scale: Any = None
    score: Callable | None = None
    visible: Callable | None = None
    left: int | None = None
    right: int | None = None
    bottom_right: bool = False


@dataclass(frozen=True)
class Ring:
    """The ranks that share a sequence, along the axis 'sequence' of the mesh."""

    size: int = 1
    order: str = "contiguous"

    def rank(self):
        return lax.axis_index("sequence") if self.size > 1 else 0

    def position(self, rank, local, count):
        """The global number of a local position of a rank that has `count` of them."""
        if self.order == "contiguous":
            return rank * count + local
        half = count // 2
        piece = jnp.where(local < half, rank, 2 * self.size - 1 - rank)
        return piece * half + local % half

    def piece(self, count):
        """How many neighbours of the sequence lie side by side on a rank."""
        return count if self.order == "contiguous" else count // 2

    def turn(self, x):
        """x of the rank before; gives x to the next one."""
        if self.size == 1:
            return x
        return lax.ppermute(x, "sequence", [(n, (n + 1) % self.size) for n in range(self.size)])


@dataclass(frozen=True)
class Setup:
    """What is known of an attention when it is compiled."""

    call: Attention
    ring: Ring
    dropout: Dropout | None  # its seed and offset are operands
    keep_factor: float
    heads: int
    queries: int  # of the whole
    keys: int

    def tile(self, extent, count):
        """Rows or columns of a tile: the most, up to TILE, that divide the neighbours on a rank."""
        piece = self.ring.piece(count) if extent > count else count
        return next(n for n in range(min(TILE, piece), 0, -1) if piece % n == 0)


@dataclass(frozen=True)
class Tile:
    """Where a tile of scores lies: global numbers of batch entries, heads, queries and keys that broadcast to
    (B, Hq, Tq, Tk); entry and row are local.
    """

    b: jax.Array
    h: jax.Array
    i: jax.Array
    j: jax.Array
    entry: jax.Array
    row: jax.Array

    def part(self, capture):
        """The part of a tensor (B|1, H|1, local Sq|1, Skv|1) that broadcasts to the tile."""
        if capture.shape[2] > 1:
            capture = lax.dynamic_slice_in_dim(capture, self.row.reshape(-1)[0], self.i.shape[2], 2)
        if capture.shape[3] > 1:
            capture = lax.dynamic_slice_in_dim(capture, self.j.reshape(-1)[0], self.j.shape[3], 3)
        return capture


def diagonal_of(setup, operands):
    """Key of the diagonal less its query: an int, or (B, 1, 1, 1) where each sequence has its own length."""
    if not setup.call.bottom_right:
        return 0
    ends, rows = operands.get("lengths_kv", setup.keys), operands.get("lengths_q", setup.queries)
    diagonal = ends - rows
    return diagonal if isinstance(diagonal, int) else diagonal.reshape(-1, 1, 1, 1)


def reaches(setup, operands, i0, ni, j0, nj):
    """Whether the band lets any score of a tile through."""
    call, diagonal = setup.call, diagonal_of(setup, operands)
    if not isinstance(diagonal, int):
        return True
    seen = True
    if call.right is not None:
        seen = j0 - (i0 + ni - 1 + diagonal) <= call.right
    if call.left is not None:
        seen = (i0 + diagonal - (j0 + nj - 1) <= call.left) & seen
    return seen


def visible_scores(setup, operands, tile, captures):
    """Bool that broadcasts to the tile, or None where all is visible."""
    call, parts = setup.call, []
    distance = tile.j - tile.i - diagonal_of(setup, operands)
    if call.right is not None:
        parts.append(distance <= call.right)
    if call.left is not None:
        parts.append(-distance <= call.left)
    for name, at in (("lengths_kv", tile.j), ("lengths_q", tile.i)):
        if name in operands:
            parts.append(at < operands[name].reshape(-1, 1, 1, 1))
    if call.visible is not None:
        parts.append(call.visible(tile, captures))
    visible = None
    for part in parts:
        visible = part if visible is None else visible & part
    return visible


def scores(setup, operands, raw, tile, captures):
    """Scores from raw = q·kᵀ, -inf where a query does not see a key."""
    s = raw if setup.call.score is None else setup.call.score(raw, tile, captures)
    visible = visible_scores(setup, operands, tile, captures)
    return s if visible is None else jnp.where(visible, s, -jnp.inf)


def dropped(setup, operands, tile):
    """What probabilities are multiplied by, 0 or the factor; None where there is no dropout."""
    if "keep" in operands:
        return tile.part(operands["keep"]).astype(jnp.float32) * setup.keep_factor
    if setup.dropout is None or setup.dropout.p == 0:
        return None
    dropout = replace(setup.dropout, seed=operands["seed"], offset=operands["offset"])
    start = add(times(wide(tile.b), setup.heads), wide(tile.h))
    start = add(times(add(times(start, setup.queries), wide(tile.i)), setup.keys), wide(tile.j[..., :1]))
    count = tile.j.shape[3]
    # PyTorch's words start at the offset.
    by_offset = dropout.scheme == "onednn" or setup.dropout.offset % 4 == 0
    aligned = by_offset and setup.keys % 4 == 0 and count % 4 == 0
    keep = dropout.keep(tuple(jnp.squeeze(x, 3) for x in start), count, aligned)
    return keep.astype(jnp.float32) * dropout.factor


def grouped(a, b):
    """a·b of (B, Ha, M, K) and (B, Hb, K, N) where Hb divides Ha and each head of b serves neighbours."""
    B, heads, rows, width = a.shape
    return (a.reshape(B, b.shape[1], heads // b.shape[1] * rows, width) @ b).reshape(B, heads, rows, -1)


def summed(a, b, heads):
    """aᵀ·b over rows and over the neighbours that share a head: (B, heads, M, N)."""
    a, b = (x.reshape(x.shape[0], heads, -1, x.shape[-1]) for x in (a, b))
    return a.mT @ b


def finite(lse):
    """lse, 0 for rows that see nothing: e^(s - finite(lse)) is then 0 and not NaN."""
    return jnp.where(lse == -jnp.inf, 0.0, lse)


def cut_rows(x, at, count):
    return lax.dynamic_slice_in_dim(x, at, count, 2)


def with_rows(x, rows, at):
    return lax.dynamic_update_slice_in_dim(x, rows, at, 2)


def over_tiles(setup, operands, q, k, owner, carry, compute):
    """Goes through the tiles of local queries and the keys of a rank that the band lets through.

    compute(carry, tile, row, rows, column, columns): the carry with what a tile adds.
    """
    (B, H, n, _), m = q.shape, k.shape[2]
    rows, columns = setup.tile(setup.queries, n), setup.tile(setup.keys, m)

    def of_tile(index, carry):
        row, column = index // (m // columns) * rows, index % (m // columns) * columns
        i0 = setup.ring.position(setup.ring.rank(), row, n)
        j0 = setup.ring.position(owner, column, m)
        i, j = (i0 + jnp.arange(rows)).reshape(1, 1, -1, 1), (j0 + jnp.arange(columns)).reshape(1, 1, 1, -1)
        entry = jnp.arange(B).reshape(-1, 1, 1, 1)
        local = (row + jnp.arange(rows)).reshape(1, 1, -1, 1)
        tile = Tile(operands["first"] + entry, jnp.arange(H).reshape(1, -1, 1, 1), i, j, entry, local)

        def add_tile(carry):
            return compute(carry, tile, row, rows, column, columns)

        seen = reaches(setup, operands, i0, rows, j0, columns)
        return add_tile(carry) if seen is True else lax.cond(seen, add_tile, lambda carry: carry, carry)

    return lax.fori_loop(0, n // rows * (m // columns), of_tile, carry)


def forward(setup, q, k, v, sink, captures, operands):
    """o and lse of this rank's queries, f32; q is scaled already."""
    o = jnp.zeros((*q.shape[:-1], v.shape[-1]), jnp.float32)
    lse = jnp.full(q.shape[:-1], -jnp.inf, jnp.float32)

    def turn(t, carry):
        (k, v), o, lse = carry
        arriving = setup.ring.turn((k, v))

        def compute(carry, tile, row, rows, column, columns):
            o, lse = carry
            kt, vt = (cut_rows(x, column, columns).astype(jnp.float32) for x in (k, v))
            s = scores(setup, operands, grouped(cut_rows(q, row, rows), kt.mT), tile, captures)
            own_lse, own_o = cut_rows(lse, row, rows), cut_rows(o, row, rows)
            both = jnp.logaddexp(own_lse, jax.nn.logsumexp(s, axis=-1))
            # p is relative to both, which merges what the tile gives with what is there.
            at = finite(both)
            p = jnp.exp(s - at[..., None])
            keep = dropped(setup, operands, tile)
            part = grouped(p if keep is None else p * keep, vt)
            own_o = own_o * jnp.exp(own_lse - at)[..., None] + part
            return with_rows(o, own_o, row), with_rows(lse, both, row)

        owner = (setup.ring.rank() - t) % setup.ring.size
        o, lse = over_tiles(setup, operands, q, k, owner, (o, lse), compute)
        return arriving, o, lse

    _, o, lse = lax.fori_loop(0, setup.ring.size, turn, ((k, v), o, lse))
    if sink is not None:
        # A key that every query sees and that has no value.
        with_sink = jnp.logaddexp(lse, sink.astype(jnp.float32).reshape(1, -1, 1))
        o = o * jnp.exp(lse - finite(with_sink))[..., None]
        lse = with_sink
    return o, lse


def is_trained(x):
    return jnp.issubdtype(x.dtype, jnp.floating)


def backward(setup, q, k, v, sink, captures, operands, o, lse, dO, dlse):
    """The gradients by q, k, v, sink and the captures; those of captures without one are None.

    With p = e^(s - lse) and p' = p∘keep: dV = p'ᵀ·dO, dP = dO·vᵀ∘keep, ds = p∘(dP - rowsum(o∘dO) + dlse).
    """
    delta = (o * dO).sum(-1) - jnp.where(lse == -jnp.inf, 0.0, dlse)
    trained = [n for n, c in enumerate(captures) if is_trained(c)]
    by_captures = tuple(jnp.zeros(captures[n].shape, jnp.float32) for n in trained)
    grads = tuple(jnp.zeros(x.shape, jnp.float32) for x in (k, v))

    def turn(t, carry):
        (k, v), (dk, dv), dq, by_captures = carry
        arriving = setup.ring.turn((k, v))

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
        # After as many turns as there are ranks, keys and their gradients are home.
        return arriving, setup.ring.turn((dk, dv)), dq, by_captures

    start = (k, v), grads, jnp.zeros(q.shape, jnp.float32), by_captures
    _, (dk, dv), dq, by_captures = lax.fori_loop(0, setup.ring.size, turn, start)
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
    """o (B, Hq, Sq, Dv) and lse (B, Hq, Sq), f32, of this rank's queries.

    q, k, v: this rank's part, (B, H, S, D). captures: what `call.score` and `call.visible` read; axes of
    queries are local, of keys whole. sink: (Hq). dropout: drawn, or keep: a mask (B|1, Hq|1, local Sq|1, Skv)
    whose kept elements are multiplied by keep_factor. lengths: (B), of sequences that are shorter than Sq and
    Skv. ring: who shares the sequence; first: the global number of the first batch entry. A query that sees
    no key gives o = 0 and lse = -inf.
    """
    ring = ring or Ring()
    if lengths_kv is not None:
        # What lies behind the end may be anything, NaN too, and 0·NaN is NaN.
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
    """The gradients of `attention` by (q, k, v, sink, *captures) on one rank; None by what is None or has
    none.
    """
    given = [n for n, x in enumerate(inputs) if x is not None and is_trained(x)]

    def run(*own):
        q, k, v, sink, *captures = (dict(zip(given, own)).get(n, x) for n, x in enumerate(inputs))
        return attention(call, q, k, v, captures, sink=sink, **options)

    (_, lse), differentiate = jax.vjp(run, *(inputs[n] for n in given))
    found = differentiate((o_grad, jnp.zeros_like(lse) if lse_grad is None else lse_grad))
    by_place = dict(zip(given, found))
    return [by_place.get(n) for n in range(len(inputs))]

"""Attention of some queries to some keys: mathematics in tiles of scores, and PyTorch's kernels where these
do.

Shapes: q (B, Hq, Tq, D), k (B, Hk, Tk, D), v (B, Hv, Tk, Dv); Hk and Hv divide Hq. Partial results are o (B,
Hq, Tq, Dv) and lse (B, Hq, Tq), the natural logarithm of the sum of e^score, -inf for a query that sees no
key.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch

from .kernels import kernel_of
from .philox import Dropout

TILE = 512


@dataclass(frozen=True)
class Attention:
    """What happens to a score, in this order: scale, `score`, masks. All indices are global.

    scale: multiplies q·k, 1/sqrt(D) where None. score(s, tile, captures): scores from scores. visible(tile,
    captures): bool, broadcast to the scores. left, right: query i sees the keys from i + diagonal - left to i
    + diagonal + right; None: no bound. bottom_right: the diagonal is Skv - Sq instead of 0, or with lengths
    that of each sequence.
    """

    scale: float | None = None
    score: Callable | None = None
    visible: Callable | None = None
    left: int | None = None
    right: int | None = None
    bottom_right: bool = False


@dataclass(frozen=True)
class Operands:
    """What an attention reads beside q, k and v, and the extents of the whole."""

    extents: tuple  # (H, Sq, Skv)
    first: int = 0  # the global number of the first batch entry
    dropout: Dropout | None = None
    # A given mask of kept probabilities, (B|1, H|1, local Sq|1, Skv); they are multiplied by keep_factor.
    keep: torch.Tensor | None = None
    keep_factor: float = 1.0
    lengths_q: torch.Tensor | None = None  # (B)
    lengths_kv: torch.Tensor | None = None  # (B)


@dataclass(frozen=True)
class Tile:
    """Where a tile of scores lies: global numbers of batch entries, heads, queries and keys that broadcast to
    (B, Hq, Tq, Tk).
    """

    b: torch.Tensor
    h: torch.Tensor
    i: torch.Tensor
    j: torch.Tensor
    first: int  # global number of local batch entry 0
    row0: int  # local number of the first query
    i0: int
    j0: int

    @property
    def entry(self):
        """Local numbers of the batch entries."""
        return self.b - self.first

    @property
    def row(self):
        """Local numbers of the queries."""
        return self.i + (self.row0 - self.i0)

    def part(self, capture):
        """The part of a tensor (B|1, H|1, local Sq|1, Skv|1) that broadcasts to the tile."""
        if capture.shape[2] > 1:
            capture = capture.narrow(2, self.row0, self.i.shape[2])
        return capture.narrow(3, self.j0, self.j.shape[3]) if capture.shape[3] > 1 else capture


def tile_at(operands, q, row0, i0, ni, j0, nj):
    def along(first, count, axis):
        shape = [1, 1, 1, 1]
        shape[axis] = count
        return torch.arange(first, first + count, device=q.device).view(shape)

    first = operands.first
    b, h = along(first, q.shape[0], 0), along(0, q.shape[1], 1)
    return Tile(b, h, along(i0, ni, 2), along(j0, nj, 3), first, row0, i0, j0)


def diagonal_of(call, operands):
    """Key of the diagonal less its query: an int, or (B, 1, 1, 1) where each sequence has its own length."""
    if not call.bottom_right:
        return 0
    _, queries, keys = operands.extents
    if operands.lengths_q is None and operands.lengths_kv is None:
        return keys - queries
    ends = operands.lengths_kv if operands.lengths_kv is not None else keys
    rows = operands.lengths_q if operands.lengths_q is not None else queries
    return (ends - rows).view(-1, 1, 1, 1)


def reach(call, operands, i0, ni, j0, nj):
    """How many scores of a block the band and the lengths let through: 'none', 'some' or 'all'."""
    if ni == 0 or nj == 0:
        return "none"
    has_lengths = operands.lengths_q is not None or operands.lengths_kv is not None
    diagonal = diagonal_of(call, operands)
    if not isinstance(diagonal, int):
        return "some"
    right = j0 - (i0 + ni - 1 + diagonal)  # how far the first key lies behind the last query's diagonal
    left = i0 + diagonal - (j0 + nj - 1)
    if (call.right is not None and right > call.right) or (call.left is not None and left > call.left):
        return "none"
    right_whole = call.right is None or j0 + nj - 1 - (i0 + diagonal) <= call.right
    left_whole = call.left is None or i0 + ni - 1 + diagonal - j0 <= call.left
    return "all" if right_whole and left_whole and not has_lengths else "some"


def grouped(product, a, b):
    """A product of (B, Ha, M, K) and (B, Hb, K, N) where Hb divides Ha and each head of b serves neighbours:
    (B, Ha, M, N).
    """
    B, heads, rows, width = a.shape
    folded = a.reshape(B, b.shape[1], heads // b.shape[1] * rows, width)
    return product(folded, b).reshape(B, heads, rows, -1)


def summed(a, b, heads):
    """aᵀ·b over rows and over the neighbours that share a head: (B, heads, M, N) from (B, Hq, T, M) and (B,
    Hq, T, N).
    """
    a, b = (x.reshape(x.shape[0], heads, -1, x.shape[-1]) for x in (a, b))
    return a.transpose(-1, -2) @ b


def visible_scores(call, operands, tile, captures, kind):
    """Bool that broadcasts to the tile, or None where all is visible."""
    parts = []
    if kind == "some":
        distance = tile.j - tile.i - diagonal_of(call, operands)
        if call.right is not None:
            parts.append(distance <= call.right)
        if call.left is not None:
            parts.append(-distance <= call.left)
    if operands.lengths_kv is not None:
        parts.append(tile.j < operands.lengths_kv.view(-1, 1, 1, 1))
    if operands.lengths_q is not None:
        parts.append(tile.i < operands.lengths_q.view(-1, 1, 1, 1))
    if call.visible is not None:
        parts.append(call.visible(tile, captures))
    visible = None
    for part in parts:
        visible = part if visible is None else visible & part
    return visible


def scores(call, operands, raw, tile, captures, kind):
    """Scores from raw = scale·q·kᵀ, -inf where a query does not see a key."""
    s = raw if call.score is None else call.score(raw, tile, captures)
    visible = visible_scores(call, operands, tile, captures, kind)
    return s if visible is None else torch.where(visible, s, -torch.inf)


def dropped(operands, tile, p):
    """What probabilities are multiplied by, 0 or the factor; None where there is no dropout."""
    if operands.keep is not None:
        return tile.part(operands.keep).to(p.dtype) * operands.keep_factor
    dropout = operands.dropout
    if dropout is None or dropout.p == 0:
        return None
    keep = dropout.keep_scores(tile.b, tile.h, tile.i, tile.j0, tile.j.shape[3], operands.extents)
    return keep.to(p.dtype) * dropout.factor


def finite(lse):
    """lse, 0 for rows that see nothing: e^(s - finite(lse)) is then 0 and not NaN."""
    return lse.masked_fill(lse == -torch.inf, 0)


def merge(o, lse, part_o, part_lse):
    """Adds a partial result to o and lse in place: L = ln(e^lse + e^l), o = e^(lse - L)·o + e^(l - L)·o₂."""
    both = torch.logaddexp(lse, part_lse)
    at = finite(both)
    o.mul_((lse - at).exp().unsqueeze(-1)).add_((part_lse - at).exp().unsqueeze(-1) * part_o)
    lse.copy_(both)


def tiles_of(count):
    return [(at, min(TILE, count - at)) for at in range(0, count, TILE)]


def block_forward(call, operands, q, k, v, captures, row0, i0, j0, o, lse):
    """Merges the attention of queries i0… (local rows row0…) to keys j0… into o and lse of these queries."""
    kind = reach(call, operands, i0, q.shape[2], j0, k.shape[2])
    if kind == "none":
        return
    kernel = kernel_for(call, operands, q, k, v, i0, j0, kind)
    if kernel is not None:
        part_o, part_lse = kernel.attend(q, k, v, kernel_is_causal(kind), scale_of(call, q))
        return merge(o, lse, part_o, part_lse)
    dtype = lse.dtype
    for r, nr in tiles_of(q.shape[2]):
        qt = q.narrow(2, r, nr).to(dtype)
        for c, nc in tiles_of(k.shape[2]):
            kind = reach(call, operands, i0 + r, nr, j0 + c, nc)
            if kind == "none":
                continue
            tile = tile_at(operands, q, row0 + r, i0 + r, nr, j0 + c, nc)
            kt = k.narrow(2, c, nc).to(dtype)
            raw = grouped(torch.matmul, qt * scale_of(call, q), kt.transpose(-1, -2))
            s = scores(call, operands, raw, tile, captures, kind)
            part_lse = s.logsumexp(-1)
            p = s.softmax(-1).masked_fill((part_lse == -torch.inf).unsqueeze(-1), 0)
            keep = dropped(operands, tile, p)
            part_o = grouped(torch.matmul, p if keep is None else p * keep, v.narrow(2, c, nc).to(dtype))
            merge(o.narrow(2, r, nr), lse.narrow(2, r, nr), part_o, part_lse)


def block_backward(call, operands, q, k, v, captures, row0, i0, j0, o, lse, dO, delta, sums):
    """Adds the gradients of a block to `sums` = (dq, dk, dv, list of gradients by captures or None).

    o and lse are the final ones of these queries, over all keys; delta = rowsum(o∘dO) - dlse, or None where
    dlse is none. With p = e^(s - lse) and p' = p∘keep: dV = p'ᵀ·dO, dP = dO·vᵀ∘keep, ds = p∘(dP - delta).
    """
    kind = reach(call, operands, i0, q.shape[2], j0, k.shape[2])
    if kind == "none":
        return
    dq, dk, dv, by_captures = sums
    kernel = kernel_for(call, operands, q, k, v, i0, j0, kind)
    if kernel is not None and delta is None:
        parts = kernel.differentiate(dO, q, k, v, o, lse, kernel_is_causal(kind), scale_of(call, q))
        for total, part in zip((dq, dk, dv), parts):
            total.add_(part)
        return
    dtype, scale = lse.dtype, scale_of(call, q)
    if delta is None:
        delta = (o.to(dtype) * dO.to(dtype)).sum(-1)
    for r, nr in tiles_of(q.shape[2]):
        qt, dOt = (x.narrow(2, r, nr).to(dtype) for x in (q, dO))
        at = finite(lse.narrow(2, r, nr)).unsqueeze(-1)
        rows = delta.narrow(2, r, nr).unsqueeze(-1)
        for c, nc in tiles_of(k.shape[2]):
            kind = reach(call, operands, i0 + r, nr, j0 + c, nc)
            if kind == "none":
                continue
            tile = tile_at(operands, q, row0 + r, i0 + r, nr, j0 + c, nc)
            kt, vt = (x.narrow(2, c, nc).to(dtype) for x in (k, v))
            raw = grouped(torch.matmul, qt * scale, kt.transpose(-1, -2))
            if call.score is None:
                s = scores(call, operands, raw, tile, captures, kind)
            else:
                # Autograd does the score program, one tile at a time.
                raw = raw.detach().requires_grad_()
                leaves = [c.detach().requires_grad_(g is not None) for c, g in zip(captures, by_captures)]
                with torch.enable_grad():
                    s = scores(call, operands, raw, tile, leaves, kind)
            p = (s.detach() - at).exp()
            dP = grouped(torch.matmul, dOt, vt.transpose(-1, -2))
            keep = dropped(operands, tile, p)
            dv.narrow(2, c, nc).add_(summed(p if keep is None else p * keep, dOt, v.shape[1]))
            ds = p * ((dP if keep is None else dP * keep) - rows)
            if call.score is not None:
                wanted = [n for n, g in enumerate(by_captures) if g is not None]
                grads = torch.autograd.grad(s, [raw, *(leaves[n] for n in wanted)], ds, allow_unused=True)
                ds = grads[0] if grads[0] is not None else torch.zeros_like(raw)
                for n, g in zip(wanted, grads[1:]):
                    if g is not None:
                        by_captures[n].add_(g)
            ds = ds * scale
            dq.narrow(2, r, nr).add_(grouped(torch.matmul, ds, kt))
            dk.narrow(2, c, nc).add_(summed(ds, qt, k.shape[1]))


def scale_of(call, q):
    return q.shape[-1] ** -0.5 if call.scale is None else call.scale


def kernel_is_causal(kind):
    return kind == "some"


def kernel_for(call, operands, q, k, v, i0, j0, kind):
    """PyTorch's kernel for a block, where it asks for nothing but a scale and a band; else None.

    A kernel takes blocks that are wholly visible and squares on the causal diagonal. It never gets a query
    that sees nothing: what kernels say of such rows differs from device to device.
    """
    lengths = operands.lengths_q, operands.lengths_kv
    more = (call.score, call.visible, operands.dropout, operands.keep, *lengths)
    if any(x is not None for x in more) or q.shape[-1] != v.shape[-1] or k.shape[1] != v.shape[1]:
        return None
    square = q.shape[2] == k.shape[2] and i0 + diagonal_of(call, operands) == j0
    if kind == "some" and not (square and call.right == 0 and call.left is None):
        return None
    return kernel_of(q)

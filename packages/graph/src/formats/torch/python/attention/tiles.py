"""Attention of some queries to some keys, in tiles of scores or by a PyTorch kernel.

Shapes: q (B, Hq, Tq, D), k (B, Hk, Tk, D), v (B, Hv, Tk, Dv); Hk and Hv divide Hq. Partial results are o (B,
Hq, Tq, Dv) and lse (B, Hq, Tq), the natural logarithm of the sum of e^score, -inf for a query that sees no
key.
"""

import torch

from .kernels import kernel_of
from .score import diagonal_of, dropped, finite, reach, scores, tile_at

TILE = 512


def grouped(product, a, b):
    """The product (B, Ha, M, N) of (B, Ha, M, K) and (B, Hb, K, N), where Hb divides Ha and neighbouring
    heads of a share a head of b.
    """
    B, heads, rows, width = a.shape
    folded = a.reshape(B, b.shape[1], heads // b.shape[1] * rows, width)
    return product(folded, b).reshape(B, heads, rows, b.shape[-1])


def summed(a, b, heads):
    """aᵀ·b, summed over rows and over the neighbouring heads that share a head: (B, heads, M, N) from (B, Hq,
    T, M) and (B, Hq, T, N).
    """
    # An extent of -1 would be ambiguous on a rank without batch entries.
    rows = a.shape[1] // heads * a.shape[2]
    a, b = (x.reshape(x.shape[0], heads, rows, x.shape[-1]) for x in (a, b))
    return a.transpose(-1, -2) @ b


def merge(o, lse, part_o, part_lse):
    """Adds a partial result to o and lse in place: o = (1 - w)·o + w·o₂ with w = e^l / (e^lse + e^l).

    w is the sigmoid of l - lse. Weights relative to ln(e^lse + e^l), which is rounded, would not add up to 1,
    and backward multiplies this error of o by the entries of k.
    """
    w = torch.sigmoid(part_lse - lse).masked_fill(part_lse == -torch.inf, 0)
    o.lerp_(part_o.to(o.dtype), w.unsqueeze(-1))
    lse.copy_(torch.logaddexp(lse, part_lse))


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
    """Adds the gradients of a block to `sums` = (dq, dk, dv, list of gradients of captures or None).

    o and lse are the final ones of these queries, over all keys; delta = rowsum(o∘dO) - dlse, or None if dlse
    is None. With p = e^(s - lse) and p' = p∘keep: dV = p'ᵀ·dO, dP = dO·vᵀ∘keep, ds = p∘(dP - delta).
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
                # Autograd differentiates the score program, one tile at a time.
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
    """PyTorch's kernel for a block, if the block needs only a scale and a band; else None.

    A kernel computes blocks that are fully visible, and squares on the causal diagonal. It never gets a query
    that sees no key, because kernels' results for such rows differ between devices.
    """
    lengths = operands.lengths_q, operands.lengths_kv
    more = (call.score, call.visible, operands.dropout, operands.keep, *lengths)
    if any(x is not None for x in more) or q.shape[-1] != v.shape[-1] or k.shape[1] != v.shape[1]:
        return None
    square = q.shape[2] == k.shape[2] and i0 + diagonal_of(call, operands) == j0
    if kind == "some" and not (square and call.right == 0 and call.left is None):
        return None
    return kernel_of(q)

"""Compares ring attention on 1 to 8 ranks with dense attention in float64.

In packages/graph: python -m src.formats.torch.python.attention.test_attention [RANKS…].
"""

import os
import sys
import tempfile
from datetime import timedelta

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

from testing.python.attention_cases import (
    DROPOUT,
    KEEP_FACTOR,
    TOLERANCE,
    UNSEEN,
    cases,
    dense,
    is_trained,
    largest_error,
    operands_of,
)

from ..philox import Dropout
from . import Attention, Ring, attention, score, tiles
from .layout import Layout

# A length that no number of ranks divides.
LENGTH = 29
CASES = cases(torch)


def tensors_of(case):
    """The operands of a case as float64 tensors."""

    def tensor(x):
        return x if x is None else torch.from_numpy(x)

    given = operands_of(case, LENGTH)
    return {name: [tensor(c) for c in x] if name == "captures" else tensor(x) for name, x in given.items()}


def dropout_of(case):
    return Dropout(*DROPOUT, case["scheme"]) if "scheme" in case else None


def leaves_of(given, change=lambda x: x):
    """q, k, v, sink and the captures; those with gradients are leaves of autograd."""
    leaves = [change(x) for x in (given["q"], given["k"], given["v"], given["sink"], *given["captures"])]
    return [x.detach().clone().requires_grad_() if is_trained(x) else x for x in leaves]


def gradients_of(leaves, o, lse, dO, dlse):
    """The gradients of the leaves."""
    total = (o * dO).sum()
    if dlse is not None:
        total = total + (lse.masked_fill(lse <= UNSEEN, 0) * dlse).sum()
    trained = [x for x in leaves if is_trained(x)]
    grads = torch.autograd.grad(total, trained, allow_unused=True)
    return [torch.zeros_like(x) if g is None else g for x, g in zip(trained, grads)]


def expected_of(case, given):
    """o, lse and all gradients, by the formulas, with all scores in memory."""
    leaves = leaves_of(given)
    q, k, v, sink, *captures = leaves
    extents = q.shape[1], q.shape[2], k.shape[2]
    tile = score.tile_at(score.Operands(extents), q, 0, 0, extents[1], 0, extents[2])
    factors, dropout = None, dropout_of(case)
    if dropout is not None:
        factors = dropout.keep_scores(tile.b, tile.h, tile.i, 0, extents[2], extents) * dropout.factor
    if given["keep"] is not None:
        factors = given["keep"] * KEEP_FACTOR
    own = {**given, "q": q, "k": k, "v": v, "sink": sink, "captures": captures}
    o, lse = dense(torch, Attention(**case.get("call", {})), own, tile, factors)
    results = o, lse, *gradients_of(leaves, o, lse, given["dO"], given["dlse"])
    return [x.detach() for x in results]


def on_ranks(case, given, order, dtype):
    """The same results, assembled on each rank from the parts of all ranks."""
    rank, size = dist.get_rank(), dist.get_world_size()
    Sq, Skv = given["q"].shape[2], given["k"].shape[2]
    q_at, kv_at = Layout(Sq, size, order), Layout(Skv, size, order)
    rows, columns = q_at.positions(rank), kv_at.positions(rank)

    def part(x, at=None):
        if x is None:
            return None
        x = x if at is None else x.index_select(2, at)
        return x.to(dtype) if x.is_floating_point() else x

    has_rows = [c.dim() == 4 and c.shape[2] == Sq for c in given["captures"]]
    captures = [part(c, rows if own else None) for c, own in zip(given["captures"], has_rows)]
    parts = {"q": part(given["q"], rows), "k": part(given["k"], columns), "v": part(given["v"], columns)}
    leaves = leaves_of({**parts, "sink": part(given["sink"]), "captures": captures})
    o, lse = attention(
        Attention(**case.get("call", {})),
        *leaves[:3],
        leaves[4:],
        sink=leaves[3],
        dropout=dropout_of(case),
        keep=part(given["keep"], rows),
        keep_factor=KEEP_FACTOR,
        lengths_q=given["lengths_q"],
        lengths_kv=given["lengths_kv"],
        ring=Ring(dist.group.WORLD),
        q_at=q_at,
        kv_at=kv_at,
    )
    grads = gradients_of(leaves, o, lse, part(given["dO"], rows), part(given["dlse"], rows))
    whole = [spread(o, rows, Sq), spread(lse.masked_fill(lse == -torch.inf, UNSEEN), rows, Sq)]
    # The global positions of the rows along dimension 2 of each leaf; None for a leaf that every rank has
    # whole.
    places = [
        (rows, Sq),
        (columns, Skv),
        (columns, Skv),
        None,
        *[(rows, Sq) if own else None for own in has_rows],
    ]
    for grad, place in zip(grads, [place for x, place in zip(leaves, places) if is_trained(x)], strict=True):
        if place is None:
            dist.all_reduce(grad)
        whole.append(grad if place is None else spread(grad, *place))
    return whole


def spread(x, at, length):
    """The whole tensor: each rank writes its part into zeros, and the ranks sum them."""
    whole = torch.zeros(*x.shape[:2], length, *x.shape[3:], dtype=torch.float64)
    whole.index_copy_(2, at, x.detach().to(torch.float64))
    dist.all_reduce(whole)
    return whole


def check_cases(rank, size, path):
    torch.set_num_threads(1)
    store = dist.FileStore(path, size)
    dist.init_process_group("gloo", store=store, rank=rank, world_size=size, timeout=timedelta(minutes=5))
    worst, wrong = 0.0, []
    small = 7 if size < 4 else 512
    for tile_size in {512, small}:
        tiles.TILE = tile_size
        for name, case in CASES.items():
            given = tensors_of(case)
            expected = expected_of(case, given)
            for order in ["zigzag", "contiguous"] if size > 1 else ["zigzag"]:
                error = largest_error(on_ranks(case, given, order, torch.float32), expected)
                worst = max(worst, error)
                if not error <= TOLERANCE:
                    wrong.append(f"{name}, {order}, tiles of {tile_size}: {error:.1e}")
            if name in ("full", "causal", "softcap") and tile_size == 512:
                rounded = {**given, **{n: given[n].bfloat16().double() for n in ("q", "k", "v", "dO")}}
                found = on_ranks(case, given, "zigzag", torch.bfloat16)
                error = largest_error(found, expected_of(case, rounded))
                if not error <= 2e-2:
                    wrong.append(f"{name}, bf16: {error:.1e}")
    if rank == 0:
        print(f"{size} ranks: {len(CASES)} cases, largest error {worst:.1e}", *wrong, sep="\n  ", flush=True)
    dist.destroy_process_group()
    if wrong:
        sys.exit(1)


if __name__ == "__main__":
    for world in [int(n) for n in sys.argv[1:]] or [1, 2, 3, 4, 8]:
        path = os.path.join(tempfile.mkdtemp(), "store")
        mp.start_processes(check_cases, (world, path), nprocs=world, start_method="fork")

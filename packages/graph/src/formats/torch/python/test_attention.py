"""Ring attention on 1 to 8 ranks against dense attention in float64: python -m python.test_attention
[WORLD…].
"""

import os
import sys
import tempfile
from datetime import timedelta

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

from . import tiles
from .attention import Attention, Ring, attention
from .layout import Layout
from .philox import Dropout


def softcapped(s, tile, captures):
    return 5 * torch.tanh(s / 5)


def biased(s, tile, captures):
    return s + tile.part(captures[0])


def alibi(s, tile, captures):
    return s - captures[0].view(1, -1, 1, 1) * (tile.i - tile.j).abs()


def two_captures(s, tile, captures):
    return s * tile.part(captures[0]) + captures[1][tile.entry, (tile.i - tile.j).clamp(0, 6)]


def same_document(tile, captures):
    documents = captures[-1]
    return documents[tile.entry, tile.i] == documents[tile.entry, tile.j]


def not_row_three(tile, captures):
    return tile.i != 3


# Of each case: shapes, the call, names of captures, and what else is given.
CASES = {
    "full": {},
    "causal": {"call": {"right": 0}},
    "causal with a scale": {"call": {"right": 0, "scale": 0.3}},
    "window": {"call": {"left": 5, "right": 2}},
    "left window": {"call": {"left": 3}},
    "cross": {"Sq": 19, "call": {"right": 0}},
    "cross, bottom right": {"Sq": 19, "call": {"right": 0, "bottom_right": True}},
    "more queries than keys": {"Skv": 19, "call": {"right": 0, "bottom_right": True}},
    "alibi": {"call": {"right": 0, "score": alibi}, "captures": ["slopes"]},
    "softcap": {"call": {"score": softcapped}},
    "row bias": {"call": {"score": biased}, "captures": ["row bias"]},
    "column bias": {"call": {"score": biased, "right": 0}, "captures": ["column bias"]},
    "score program": {"call": {"score": two_captures}, "captures": ["row bias", "table"]},
    "lengths": {"lengths": True, "call": {"right": 0}},
    "lengths, bottom right": {"lengths": True, "call": {"right": 0, "bottom_right": True}},
    "documents": {"call": {"visible": same_document, "right": 0}, "captures": ["documents"]},
    "dead rows": {"call": {"visible": not_row_three}},
    "sink": {"sink": True, "call": {"right": 0}},
    "gradient by lse": {"dlse": True, "call": {"right": 0}},
    "dropout": {"scheme": "onednn", "call": {"right": 0}},
    "dropout of PyTorch": {"scheme": "torch-efficient"},
    "dropout of FlashAttention-2": {"scheme": "flash-attention-2", "call": {"right": 0}},
    "given mask": {"keep": True},
    "heads": {"Hq": 12, "Hk": 2, "Hv": 3, "Dv": 5, "call": {"right": 0}},
    "tiny": {"Sq": 5, "Skv": 5, "call": {"right": 0}},
    "all at once": {
        "Hq": 6,
        "Hk": 2,
        "Hv": 3,
        "Dv": 5,
        "scheme": "onednn",
        "lengths": True,
        "sink": True,
        "dlse": True,
        "call": {"score": two_captures, "visible": same_document, "left": 9, "right": 1},
        "captures": ["row bias", "table", "documents"],
    },
}
SEED = 2**40 + 7
# Stands for -inf where results are compared.
UNSEEN = -1e4


def operands_of(case):
    generator = torch.Generator().manual_seed(3)

    def normal(*shape):
        return torch.randn(shape, generator=generator, dtype=torch.float64)

    B, Hq, Sq = 2, case.get("Hq", 4), case.get("Sq", 29)
    Hk, Skv, D = case.get("Hk", 2), case.get("Skv", 29), 8
    Hv, Dv = case.get("Hv", Hk), case.get("Dv", D)
    captures = {
        "slopes": torch.linspace(0.1, 0.4, Hq, dtype=torch.float64),
        "row bias": normal(1, Hq, Sq, 1),
        "column bias": normal(B, 1, 1, Skv),
        "table": normal(B, 7),
        "documents": (torch.arange(max(Sq, Skv)) * 3 // max(Sq, Skv)).expand(B, -1).contiguous(),
    }
    return {
        "q": normal(B, Hq, Sq, D),
        "k": normal(B, Hk, Skv, D),
        "v": normal(B, Hv, Skv, Dv),
        "sink": normal(Hq) if case.get("sink") else None,
        "captures": [captures[name] for name in case.get("captures", [])],
        "lengths_q": torch.tensor([Sq, Sq - 4]) if case.get("lengths") else None,
        "lengths_kv": torch.tensor([Skv - 3, Skv - 1]) if case.get("lengths") else None,
        "keep": torch.rand((B, Hq, Sq, Skv), generator=generator) < 0.8 if case.get("keep") else None,
        "dO": normal(B, Hq, Sq, Dv),
        "dlse": normal(B, Hq, Sq) if case.get("dlse") else None,
        "dropout": Dropout(0.3, SEED, 5, case["scheme"]) if "scheme" in case else None,
    }


def is_trained(x):
    return x is not None and x.is_floating_point()


def dense(case, given):
    """o, lse and all gradients, by the formulas, with all scores in memory."""
    call = Attention(**case.get("call", {}))
    leaves = [given["q"], given["k"], given["v"], given["sink"], *given["captures"]]
    leaves = [x.detach().clone().requires_grad_() if is_trained(x) else x for x in leaves]
    q, k, v, sink, *captures = leaves
    (B, Hq, Sq, D), Skv = q.shape, k.shape[2]
    operands = tiles.Operands((Hq, Sq, Skv))
    tile = tiles.tile_at(operands, q, 0, 0, Sq, 0, Skv)
    scale = D**-0.5 if call.scale is None else call.scale
    s = scale * q @ k.repeat_interleave(Hq // k.shape[1], 1).transpose(-1, -2)
    s = s if call.score is None else call.score(s, tile, captures)
    i, j = tile.i, tile.j
    diagonal = torch.zeros(B, 1, 1, 1, dtype=torch.int64)
    ends = given["lengths_kv"] if given["lengths_kv"] is not None else torch.tensor([Skv] * B)
    rows = given["lengths_q"] if given["lengths_q"] is not None else torch.tensor([Sq] * B)
    if call.bottom_right:
        diagonal = (ends - rows).view(-1, 1, 1, 1)
    seen = (j < ends.view(-1, 1, 1, 1)) & (i < rows.view(-1, 1, 1, 1))
    if call.right is not None:
        seen = seen & (j <= i + diagonal + call.right)
    if call.left is not None:
        seen = seen & (j >= i + diagonal - call.left)
    if call.visible is not None:
        seen = seen & call.visible(tile, captures)
    s = torch.where(seen, s, -torch.inf)
    dead = ~seen.any(-1, keepdim=True).expand(*s.shape[:-1], 1)
    with_sink = s if sink is None else torch.cat([s, sink.view(1, -1, 1, 1).expand(B, -1, Sq, 1)], -1)
    safe = with_sink if sink is not None else torch.where(dead, 0.0, with_sink)
    lse = safe.logsumexp(-1)
    p = torch.where(seen, (s - lse.unsqueeze(-1)).exp(), 0.0)
    if given["dropout"] is not None:
        dropout = given["dropout"]
        p = p * dropout.keep_scores(tile.b, tile.h, i, 0, Skv, (Hq, Sq, Skv)) * dropout.factor
    if given["keep"] is not None:
        p = p * given["keep"] * 1.25
    o = p @ v.repeat_interleave(Hq // v.shape[1], 1)
    alive = torch.ones_like(dead) if sink is not None else ~dead
    total = (o * given["dO"]).sum()
    if given["dlse"] is not None:
        total = total + (torch.where(alive[..., 0], lse, 0.0) * given["dlse"]).sum()
    trained = [x for x in leaves if is_trained(x)]
    grads = torch.autograd.grad(total, trained, allow_unused=True)
    grads = [torch.zeros_like(x) if g is None else g for x, g in zip(trained, grads)]
    return [x.detach() for x in (o, torch.where(alive[..., 0], lse, UNSEEN), *grads)]


def on_ranks(case, given, order, dtype):
    """The same from the parts of all ranks, put together on each."""
    rank, size = dist.get_rank(), dist.get_world_size()
    (_, _, Sq, _), Skv = given["q"].shape, given["k"].shape[2]
    q_at, kv_at = Layout(Sq, size, order), Layout(Skv, size, order)
    rows, columns = q_at.positions(rank), kv_at.positions(rank)

    def part(x, at=None):
        if x is None:
            return None
        x = x if at is None else x.index_select(2, at)
        return x.to(dtype) if x.is_floating_point() else x

    q, k, v = part(given["q"], rows), part(given["k"], columns), part(given["v"], columns)
    has_rows = [c.dim() == 4 and c.shape[2] == Sq for c in given["captures"]]
    captures = [part(c, rows if own else None) for c, own in zip(given["captures"], has_rows)]
    leaves = [q, k, v, part(given["sink"]), *captures]
    leaves = [x.clone().requires_grad_() if is_trained(x) else x for x in leaves]
    o, lse = attention(
        Attention(**case.get("call", {})),
        *leaves[:3],
        leaves[4:],
        sink=leaves[3],
        dropout=given["dropout"],
        keep=part(given["keep"], rows),
        keep_factor=1.25,
        lengths_q=given["lengths_q"],
        lengths_kv=given["lengths_kv"],
        ring=Ring(dist.group.WORLD),
        q_at=q_at,
        kv_at=kv_at,
    )
    total = (o * part(given["dO"], rows)).sum()
    if given["dlse"] is not None:
        seen = lse > -torch.inf
        total = total + (torch.where(seen, lse, 0.0) * part(given["dlse"], rows)).sum()
    trained = [x for x in leaves if is_trained(x)]
    grads = torch.autograd.grad(total, trained, allow_unused=True)
    whole = [spread(o, rows, Sq), spread(lse.masked_fill(lse == -torch.inf, UNSEEN), rows, Sq)]
    # Along dimension 2: queries, keys or whole.
    of_captures = [(rows, Sq) if own else None for own in has_rows]
    places = [(rows, Sq), (columns, Skv), (columns, Skv), None, *of_captures]
    for leaf, grad, place in zip(trained, grads, [p for x, p in zip(leaves, places) if is_trained(x)]):
        grad = torch.zeros_like(leaf) if grad is None else grad
        if place is not None:
            grad = spread(grad, *place)
        else:
            dist.all_reduce(grad)
        whole.append(grad.detach())
    return whole


def spread(x, at, length):
    """A part at its place in zeros, summed over ranks: the whole."""
    whole = torch.zeros(*x.shape[:2], length, *x.shape[3:], dtype=torch.float64)
    whole.index_copy_(2, at, x.detach().to(torch.float64))
    dist.all_reduce(whole)
    return whole


def largest_error(results, expected):
    """Relative to the largest number of a tensor, but at least 1."""
    pairs = list(zip(results, expected, strict=True))
    return max(float((x - y).abs().max()) / max(1.0, float(y.abs().max())) for x, y in pairs)


def check_cases(rank, size, path):
    torch.set_num_threads(1)
    store = dist.FileStore(path, size)
    dist.init_process_group("gloo", store=store, rank=rank, world_size=size, timeout=timedelta(minutes=5))
    worst, wrong = 0.0, []
    small = 7 if size < 4 else 512
    for tile_size in {512, small}:
        tiles.TILE = tile_size
        for name, case in CASES.items():
            given = operands_of(case)
            for order in ["zigzag", "contiguous"] if size > 1 else ["zigzag"]:
                error = largest_error(on_ranks(case, given, order, torch.float32), dense(case, given))
                worst = max(worst, error)
                if not error <= 5e-6:
                    wrong.append(f"{name}, {order}, tiles of {tile_size}: {error:.1e}")
            if name in ("full", "causal", "softcap") and tile_size == 512:
                rounded = dict(given)
                for n in ("q", "k", "v", "dO"):
                    rounded[n] = given[n].bfloat16().double()
                error = largest_error(on_ranks(case, given, "zigzag", torch.bfloat16), dense(case, rounded))
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

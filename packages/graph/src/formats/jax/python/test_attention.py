"""Ring attention on devices of the host against dense attention in float64: python -m python.test_attention
[RANKS…].
"""

import os
import sys

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P

from . import attention as module
from .attention import Attention, attention
from .parallel import Place
from .philox import Dropout, add, times, wide

B, S, D = 2, 48, 8
SEED = 2**40 + 7
# Stands for -inf where results are compared.
UNSEEN = -1e4


def softcapped(s, tile, captures):
    return 5 * jnp.tanh(s / 5)


def biased(s, tile, captures):
    return s + tile.part(captures[0])


def alibi(s, tile, captures):
    return s - captures[0].reshape(1, -1, 1, 1) * jnp.abs(tile.i - tile.j)


def two_captures(s, tile, captures):
    return s * tile.part(captures[0]) + captures[1][tile.entry, jnp.clip(tile.i - tile.j, 0, 6)]


def same_document(tile, captures):
    documents = captures[-1]
    return documents[tile.entry, tile.i] == documents[tile.entry, tile.j]


def not_row_three(tile, captures):
    return tile.i != 3


# Of each case: the call, names of captures, and what else is given.
CASES = {
    "full": {},
    "causal with a scale": {"call": {"right": 0, "scale": 0.3}},
    "window": {"call": {"left": 5, "right": 2}},
    "fewer queries, bottom right": {"Sq": 32, "call": {"right": 0, "bottom_right": True}},
    "alibi": {"call": {"right": 0, "score": alibi}, "captures": ["slopes"]},
    "softcap": {"call": {"score": softcapped}},
    "column bias": {"call": {"score": biased, "right": 0}, "captures": ["column bias"]},
    "score program": {"call": {"score": two_captures}, "captures": ["row bias", "table"]},
    "lengths, bottom right": {"lengths": True, "call": {"right": 0, "bottom_right": True}},
    "dead rows": {"call": {"visible": not_row_three}},
    "dropout": {"scheme": "onednn", "call": {"right": 0}},
    "dropout of PyTorch": {"scheme": "torch-efficient"},
    "given mask": {"keep": True},
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


def operands_of(case):
    random = np.random.default_rng(3)
    Hq, Hk, Sq, Skv = case.get("Hq", 4), case.get("Hk", 2), case.get("Sq", S), S
    Hv, Dv = case.get("Hv", Hk), case.get("Dv", D)

    def normal(*shape):
        return random.standard_normal(shape)

    captures = {
        "slopes": np.linspace(0.1, 0.4, Hq),
        "row bias": normal(1, Hq, Sq, 1),
        "column bias": normal(B, 1, 1, Skv),
        "table": normal(B, 7),
        "documents": np.broadcast_to(np.arange(Skv) * 3 // Skv, (B, Skv)).astype(np.int32),
    }
    return {
        "q": normal(B, Hq, Sq, D),
        "k": normal(B, Hk, Skv, D),
        "v": normal(B, Hv, Skv, Dv),
        "sink": normal(Hq) if case.get("sink") else None,
        "captures": [captures[name] for name in case.get("captures", [])],
        "lengths_q": np.array([Sq, Sq - 4], np.int32) if case.get("lengths") else None,
        "lengths_kv": np.array([Skv - 3, Skv - 1], np.int32) if case.get("lengths") else None,
        "keep": random.random((B, Hq, Sq, Skv)) < 0.8 if case.get("keep") else None,
        "dO": normal(B, Hq, Sq, Dv),
        "dlse": normal(B, Hq, Sq) if case.get("dlse") else np.zeros((B, Hq, Sq)),
    }


def dropout_of(case):
    # FlashAttention's offset, which is no multiple of 4.
    return Dropout(0.3, SEED, 5, case["scheme"]) if "scheme" in case else None


def trained(given):
    names = [name for name in ("q", "k", "v", "sink") if given[name] is not None]
    floats = [n for n, c in enumerate(given["captures"]) if c.dtype.kind == "f"]
    return [given[name] for name in names] + [given["captures"][n] for n in floats], names, floats


def with_leaves(given, names, floats, leaves):
    own = {**given, **dict(zip(names, leaves)), "captures": list(given["captures"])}
    for n, x in zip(floats, leaves[len(names) :]):
        own["captures"][n] = x
    return own


def dense(case, given):
    """o, lse and all gradients, by the formulas, with all scores in memory, in float64."""
    call = Attention(**case.get("call", {}))
    leaves, names, floats = trained(given)

    def run(*leaves):
        own = with_leaves(given, names, floats, leaves)
        q, k, v = own["q"], own["k"], own["v"]
        (_, Hq, Sq, _), Skv = q.shape, k.shape[2]
        i, j = jnp.arange(Sq).reshape(1, 1, -1, 1), jnp.arange(Skv).reshape(1, 1, 1, -1)
        b, h = jnp.arange(B).reshape(-1, 1, 1, 1), jnp.arange(Hq).reshape(1, -1, 1, 1)
        tile = module.Tile(b, h, i, j, b, i)
        scale = D**-0.5 if call.scale is None else call.scale
        s = scale * q @ jnp.repeat(k, Hq // k.shape[1], 1).mT
        s = s if call.score is None else call.score(s, tile, own["captures"])
        full = jnp.full((B, 1, 1, 1), 1)
        ends = full * Skv if own["lengths_kv"] is None else own["lengths_kv"].reshape(-1, 1, 1, 1)
        rows = full * Sq if own["lengths_q"] is None else own["lengths_q"].reshape(-1, 1, 1, 1)
        diagonal = ends - rows if call.bottom_right else 0
        seen = (j < ends) & (i < rows)
        if call.right is not None:
            seen = seen & (j <= i + diagonal + call.right)
        if call.left is not None:
            seen = seen & (j >= i + diagonal - call.left)
        if call.visible is not None:
            seen = seen & call.visible(tile, own["captures"])
        s = jnp.where(seen, s, -1e300)
        sink = own["sink"]
        total = jnp.where(seen, jnp.exp(s), 0.0).sum(-1)
        total = total if sink is None else total + jnp.exp(sink).reshape(1, -1, 1)
        dead = total == 0
        lse = jnp.where(dead, UNSEEN, jnp.log(jnp.where(dead, 1.0, total)))
        p = jnp.where(seen, jnp.exp(s - lse[..., None]), 0.0)
        dropout = dropout_of(case)
        if dropout is not None:
            p = p * mask_of(dropout, b, h, i, (Hq, Sq, Skv)) * dropout.factor
        if own["keep"] is not None:
            p = p * own["keep"] * 1.25
        return p @ jnp.repeat(v, Hq // v.shape[1], 1), lse

    with jax.enable_x64(True):
        results, differentiate = jax.vjp(run, *leaves)
        seen = results[1] > UNSEEN
        grads = differentiate((given["dO"], jnp.where(seen, given["dlse"], 0.0)))
        return [np.asarray(x) for x in (*results, *grads)]


def mask_of(dropout, b, h, i, extents):
    """The mask of the whole, a word for each element."""
    heads, queries, keys = extents
    start = add(times(wide(b), heads), wide(h))
    start = times(add(times(start, queries), wide(i)), keys)
    return dropout.keep(tuple(x[..., 0] for x in start), keys)


def on_ranks(case, given, ranks, order):
    """The same from the parts of all ranks, put together."""
    whole = {"queries": given["q"].shape[2], "keys": S}
    places = {name: Place({"sequence": n}, (1, ranks), order) for name, n in whole.items()}
    call = Attention(**case.get("call", {}))
    leaves, names, floats = trained(given)
    along = {"q": "queries", "k": "keys", "v": "keys"}
    Sq = whole["queries"]

    def axis_of(name, x):
        return along.get(name) or ("queries" if x.ndim == 4 and x.shape[2] == Sq else None)

    kinds = [axis_of(name, x) for name, x in zip(names + [""] * len(floats), leaves)]

    def part(x, kind):
        return x if kind is None else places[kind].cut(x, 2, "sequence")

    def local(leaves, dO, dlse, keep):
        def run(*leaves):
            own = with_leaves(given, names, floats, leaves)
            options = {name: own[name] for name in ("sink", "lengths_q", "lengths_kv")}
            options |= {"dropout": dropout_of(case), "keep": keep, "keep_factor": 1.25}
            ring = places["queries"].ring
            return attention(call, own["q"], own["k"], own["v"], own["captures"], ring=ring, **options)

        parts = [part(x, kind) for x, kind in zip(leaves, kinds)]
        (o, lse), differentiate = jax.vjp(run, *parts)
        grads = differentiate((dO, dlse))
        grads = [g if kind or ranks == 1 else lax.psum(g, "sequence") for g, kind in zip(grads, kinds)]
        return o, jnp.where(lse == -jnp.inf, UNSEEN, lse), *grads

    def of_rank(leaves, dO, dlse, keep):
        cut = [part(x, "queries") for x in (dO, dlse)] + [keep if keep is None else part(keep, "queries")]
        return local(leaves, *cut)

    rows = P(None, None, "sequence")
    specs = rows, rows, *(rows if kind else P() for kind in kinds)
    mesh = Mesh(np.array(jax.devices()[:ranks]).reshape(1, ranks), ("batch", "sequence"))
    run = jax.jit(jax.shard_map(of_rank, mesh=mesh, in_specs=P(), out_specs=specs, check_vma=False))
    f32 = [np.float32(x) for x in leaves]
    found = run(f32, np.float32(given["dO"]), np.float32(given["dlse"]), given["keep"])
    return [ordered(np.asarray(x), kind, places) for x, kind in zip(found, ["queries"] * 2 + kinds)]


def ordered(x, kind, places):
    """Rows that lie rank after rank, at their global numbers."""
    if kind is None:
        return x
    ring = places[kind].ring
    count = x.shape[2] // ring.size
    at = [ring.position(rank, np.arange(count), count) for rank in range(ring.size)]
    whole = np.zeros_like(x)
    whole[:, :, np.concatenate([np.broadcast_to(p, count) for p in at])] = x
    return whole


def main():
    wrong = []
    for ranks in [int(n) for n in sys.argv[1:]] or [1, 2, 4, 8]:
        module.TILE = 8 if ranks < 4 else 512
        worst = 0.0
        for name, case in CASES.items():
            given = operands_of(case)
            expected = dense(case, given)
            for order in ["zigzag", "contiguous"] if ranks == 2 else ["zigzag"]:
                found = on_ranks(case, given, ranks, order)
                pairs = zip(found, expected, strict=True)
                error = max(float(np.abs(x - y).max()) / max(1.0, float(np.abs(y).max())) for x, y in pairs)
                worst = max(worst, error)
                if not error <= 5e-6:
                    wrong.append(f"{ranks} ranks, {name}, {order}: {error:.1e}")
        print(f"{ranks} ranks: {len(CASES)} cases, largest error {worst:.1e}", *wrong, sep="\n  ", flush=True)
    if wrong:
        sys.exit(1)


if __name__ == "__main__":
    main()

"""Compares ring attention on host devices with dense attention in float64.

In packages/graph: python -m src.formats.jax.python.attention.test_attention [DEVICES…].
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

from testing.python.attention_cases import (
    DROPOUT,
    KEEP_FACTOR,
    TOLERANCE,
    UNSEEN,
    B,
    cases,
    dense,
    is_trained,
    largest_error,
    operands_of,
)

from ..parallel import Place
from ..philox import Dropout, add, times, wide
from . import Attention, attention, score, tiles

# Cases that JAX does not support: all ranks need equal parts, and FlashAttention-2's scheme is not exported.
LENGTH = 48
ABSENT = ("tiny", "dropout of FlashAttention-2")
CASES = {name: case for name, case in cases(jnp).items() if name not in ABSENT}


def dropout_of(case):
    return Dropout(*DROPOUT, case["scheme"]) if "scheme" in case else None


def arrays_of(case):
    """The operands of a case in float64; a missing gradient of lse is 0."""
    given = operands_of(case, LENGTH)
    dlse = given["dlse"]
    return {**given, "dlse": np.zeros(given["q"].shape[:3]) if dlse is None else dlse}


def leaves_of(given):
    """The operands with gradients, by name; captures are named by their index."""
    captures = {f"{n}": c for n, c in enumerate(given["captures"])}
    operands = {**{name: given[name] for name in ("q", "k", "v", "sink")}, **captures}
    return {name: x for name, x in operands.items() if is_trained(x)}


def with_leaves(given, leaves):
    captures = [leaves.get(f"{n}", c) for n, c in enumerate(given["captures"])]
    return {**given, **leaves, "captures": captures}


def mask_of(dropout, tile, extents):
    """The mask of the whole attention."""
    heads, queries, keys = extents
    start = add(times(wide(tile.b), heads), wide(tile.h))
    start = times(add(times(start, queries), wide(tile.i)), keys)
    return dropout.keep(tuple(x[..., 0] for x in start), keys)


def expected_of(case, given):
    """o, lse and all gradients, by the formulas, with all scores in memory."""
    (_, Hq, Sq, _), Skv = given["q"].shape, given["k"].shape[2]
    b, h = np.arange(B).reshape(-1, 1, 1, 1), np.arange(Hq).reshape(1, -1, 1, 1)
    i, j = np.arange(Sq).reshape(1, 1, -1, 1), np.arange(Skv).reshape(1, 1, 1, -1)
    tile = score.Tile(b, h, i, j, b, i)
    factors, dropout = None, dropout_of(case)
    if dropout is not None:
        factors = mask_of(dropout, tile, (Hq, Sq, Skv)) * dropout.factor
    if given["keep"] is not None:
        factors = given["keep"] * KEEP_FACTOR

    def run(leaves):
        own = with_leaves({**given, "captures": [jnp.asarray(c) for c in given["captures"]]}, leaves)
        return dense(jnp, Attention(**case.get("call", {})), own, tile, factors)

    def with_gradients(leaves, seeds):
        results, differentiate = jax.vjp(run, leaves)
        return results, *differentiate(seeds)

    with jax.enable_x64(True):
        leaves = {name: jnp.asarray(x) for name, x in leaves_of(given).items()}
        results, grads = jax.jit(with_gradients)(leaves, (given["dO"], given["dlse"]))
        return [np.asarray(x) for x in (*results, *(grads[name] for name in leaves))]


def on_devices(case, given, ranks, order):
    """The same results, assembled from the parts of all devices."""
    extents = {"queries": given["q"].shape[2], "keys": given["k"].shape[2]}
    places = {name: Place({"sequence": n}, (1, ranks), order) for name, n in extents.items()}
    leaves = leaves_of(given)
    # Whether dimension 2 of each leaf has queries or keys; None for a leaf that every device has whole.
    kinds = {"q": "queries", "k": "keys", "v": "keys"}
    for name, x in leaves.items():
        has_rows = x.ndim == 4 and x.shape[2] == extents["queries"]
        kinds.setdefault(name, "queries" if has_rows else None)

    def part(x, kind):
        return x if x is None or kind is None else places[kind].cut(x, 2, "sequence")

    def local(leaves, dO, dlse, keep):
        def run(leaves):
            own = with_leaves(given, leaves)
            options = {name: own[name] for name in ("sink", "lengths_q", "lengths_kv")}
            options |= {
                "dropout": dropout_of(case),
                "keep": part(keep, "queries"),
                "keep_factor": KEEP_FACTOR,
            }
            call, ring = Attention(**case.get("call", {})), places["queries"].ring
            return attention(call, own["q"], own["k"], own["v"], own["captures"], ring=ring, **options)

        parts = {name: part(x, kinds[name]) for name, x in leaves.items()}
        (o, lse), differentiate = jax.vjp(run, parts)
        (grads,) = differentiate((part(dO, "queries"), part(dlse, "queries")))
        for name, grad in grads.items():
            if kinds[name] is None and ranks > 1:
                grads[name] = lax.psum(grad, "sequence")
        return o, jnp.where(lse == -jnp.inf, UNSEEN, lse), grads

    rows = P(None, None, "sequence")
    specs = rows, rows, {name: rows if kinds[name] else P() for name in leaves}
    mesh = Mesh(np.array(jax.devices()[:ranks]).reshape(1, ranks), ("batch", "sequence"))
    run = jax.jit(jax.shard_map(local, mesh=mesh, in_specs=P(), out_specs=specs, check_vma=False))
    f32 = {name: np.float32(x) for name, x in leaves.items()}
    o, lse, grads = run(f32, np.float32(given["dO"]), np.float32(given["dlse"]), given["keep"])
    found = [(o, "queries"), (lse, "queries"), *((grads[name], kinds[name]) for name in leaves)]
    return [ordered(np.asarray(x), places.get(kind)) for x, kind in found]


def ordered(x, place):
    """Moves rows that are stored device after device to their global positions; returns other tensors
    unchanged.
    """
    if place is None:
        return x
    ring = place.ring
    count = x.shape[2] // ring.size
    at = [ring.position(rank, np.arange(count), count) for rank in range(ring.size)]
    whole = np.zeros_like(x)
    whole[:, :, np.concatenate(at)] = x
    return whole


def main():
    wrong, expected = [], {}
    for ranks in [int(n) for n in sys.argv[1:]] or [1, 2, 4, 8]:
        tiles.TILE = 8 if ranks < 4 else 512
        worst = 0.0
        for name, case in CASES.items():
            given = arrays_of(case)
            if name not in expected:
                expected[name] = expected_of(case, given)
            for order in ["zigzag", "contiguous"] if ranks == 2 else ["zigzag"]:
                error = largest_error(on_devices(case, given, ranks, order), expected[name])
                worst = max(worst, error)
                if not error <= TOLERANCE:
                    wrong.append(f"{ranks} devices, {name}, {order}: {error:.1e}")
        print(
            f"{ranks} devices: {len(CASES)} cases, largest error {worst:.1e}", *wrong, sep="\n  ", flush=True
        )
    if wrong:
        sys.exit(1)


if __name__ == "__main__":
    main()

"""Measures the memory of ring attention, forward and backward, on 1, 2 and 4 devices.

Asserts that the bytes that XLA reserves per device fall with the number of devices, and are too few for the
scores. In packages/graph: python -m src.formats.jax.python.attention.test_memory [S].
"""

import os
import sys

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"

import jax
import numpy as np
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P

from ..parallel import Place
from . import Attention, attention

B, Hq, Hk, D = 1, 4, 2, 32


def reserved(length, ranks):
    """The bytes that a device reserves in addition to the parts of q, k, v and their gradients."""
    ring = Place({"sequence": length}, (1, ranks)).ring

    def total(q, k, v):
        return attention(Attention(right=0), q, k, v, ring=ring)[0].sum()

    rows = P(None, None, "sequence")
    mesh = Mesh(np.array(jax.devices()[:ranks]).reshape(1, ranks), ("batch", "sequence"))
    specs = {"mesh": mesh, "in_specs": rows, "out_specs": rows, "check_vma": False}
    run = jax.jit(jax.shard_map(jax.grad(total, (0, 1, 2)), **specs))
    shapes = [jax.ShapeDtypeStruct((B, heads, length, D), np.float32) for heads in (Hq, Hk, Hk)]
    return run.lower(*shapes).compile().memory_analysis().temp_size_in_bytes


def main():
    length = int(sys.argv[1]) if len(sys.argv) > 1 else 131072
    found = {ranks: reserved(length, ranks) for ranks in (1, 2, 4)}
    scores = B * Hq * length**2 * 4
    for ranks, size in found.items():
        print(f"S {length}, {ranks} devices: {size / 2**20:.1f} MiB reserved on each", flush=True)
        assert size < scores / ranks**2, f"{size} bytes hold the scores of a rank"
    ratios = [found[2] / found[1], found[4] / found[2]]
    print(f"2 devices need {ratios[0]:.2f} of one, 4 need {ratios[1]:.2f} of 2")
    # Tiles of scores have the same size on every mesh. A single device has no message buffers; from two
    # devices on, all memory falls with their number.
    assert ratios[0] <= 0.9 and ratios[1] <= 0.55, ratios


if __name__ == "__main__":
    main()

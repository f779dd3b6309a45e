"""Measures the memory of ring attention, forward and backward, on 1, 2 and 4 ranks.

Asserts that the peak of live bytes falls with the number of ranks, and that no tensor is as large as the
scores or the keys of all ranks.

In packages/graph: python -m src.formats.torch.python.attention.test_memory [S].
"""

import os
import sys
import tempfile
import weakref
from datetime import timedelta

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.utils._python_dispatch import TorchDispatchMode

from . import Attention, Ring, attention, tiles
from .layout import Layout

B, Hq, Hk, D = 1, 4, 2, 32


class Alive(TorchDispatchMode):
    """Counts the bytes of live storages, and finds the largest one."""

    def __init__(self):
        super().__init__()
        self.now = self.peak = self.largest = 0
        self.seen = set()

    def _freed(self, key, size):
        self.seen.discard(key)
        self.now -= size

    def add(self, tensor):
        storage = tensor.untyped_storage()
        key, size = storage._cdata, storage.nbytes()
        if key in self.seen:
            return
        self.seen.add(key)
        self.now += size
        self.peak, self.largest = max(self.peak, self.now), max(self.largest, size)
        weakref.finalize(storage, self._freed, key, size)

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        results = function(*args, **(kwargs or {}))
        for x in results if isinstance(results, (tuple, list)) else [results]:
            if isinstance(x, torch.Tensor):
                self.add(x)
        return results


def measure(rank, size, path, length, results):
    torch.set_num_threads(1)
    store = dist.FileStore(path, size)
    dist.init_process_group("gloo", store=store, rank=rank, world_size=size, timeout=timedelta(minutes=5))
    at = Layout(length, size)
    n = at.count(rank)
    with Alive() as alive:
        q = torch.randn(B, Hq, n, D).requires_grad_()
        k, v = (torch.randn(B, Hk, n, D).requires_grad_() for _ in range(2))
        ring = Ring(dist.group.WORLD)
        o, _ = attention(Attention(right=0), q, k, v, ring=ring, q_at=at, kv_at=at)
        o.sum().backward()
    results.put((rank, alive.peak, alive.largest))
    dist.barrier()
    dist.destroy_process_group()


def main():
    length = int(sys.argv[1]) if len(sys.argv) > 1 else 8192
    peaks = {}
    for size in (1, 2, 4):
        results = mp.get_context("fork").SimpleQueue()
        path = os.path.join(tempfile.mkdtemp(), "store")
        mp.start_processes(measure, (size, path, length, results), nprocs=size, start_method="fork")
        found = [results.get() for _ in range(size)]
        peaks[size] = max(peak for _, peak, _ in found)
        largest, n = max(most for _, _, most in found), -(-length // size)
        limit = max(B * Hq * tiles.TILE**2 * 8, 4 * B * Hq * n * D)
        peak, most = peaks[size] / 2**20, largest / 2**20
        print(f"S {length}, {size} ranks: {peak:.1f} MiB at the peak, largest {most:.1f}")
        assert largest <= limit, f"a tensor has {largest} bytes, more than {limit}"
    ratios = [peaks[2] / peaks[1], peaks[4] / peaks[1]]
    print(f"relative to one rank: {ratios[0]:.2f} on 2, {ratios[1]:.2f} on 4")
    assert ratios[0] <= 0.65 and ratios[1] <= 0.35, ratios


if __name__ == "__main__":
    main()

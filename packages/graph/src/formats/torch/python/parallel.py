"""Starts ranks, gives each its parts of tensors, and sums gradients over all ranks."""

import os
from datetime import timedelta
from math import prod

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh

from .attention.layout import Layout
from .attention.ring import Ring
from .philox import uniform


def start():
    """Joins the process group of torchrun, if torchrun started this process. Any other process runs alone."""
    if "RANK" not in os.environ or dist.is_initialized():
        return
    rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    timeout = timedelta(minutes=5)
    hosts = rank == 0 and os.environ.get("TORCHELASTIC_USE_AGENT_STORE") != "True"
    address, port = os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"])
    store = dist.TCPStore(address, port, is_master=hosts, timeout=timeout, multi_tenant=True)
    # The agent's store outlives dead workers, so without a prefix gloo would find their old addresses in it.
    store = dist.PrefixStore(f"attempt {os.environ.get('TORCHELASTIC_RESTART_COUNT', '0')}", store)
    backend = "gloo"
    if torch.cuda.is_available():
        torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", rank)))
        backend = "nccl"
    dist.init_process_group(backend, store=store, rank=rank, world_size=world, timeout=timeout)


def mesh_shape(text, world):
    """(ranks along the batch, ranks along the sequence) from '2x4'. A missing number, as in 'x4', gets the
    remaining ranks.
    """
    batch, _, sequence = (text or f"1x{world}").partition("x")
    batch = int(batch) if batch else world // int(sequence)
    sequence = int(sequence) if sequence else world // batch
    if batch * sequence != world:
        raise SystemExit(f"--mesh {text} asks for {batch * sequence} ranks, but there are {world}")
    return batch, sequence


class Place:
    """This rank's place in the mesh of batch × sequence, and its part of each tensor.

    extents: the global extents {'batch': B, 'sequence': S}. Axes of tensors are described by factors, the
    slowest first: 'batch', 'sequence', or the extent of a factor that is not sharded. An axis with a row per
    token, for example, has the factors ('batch', 'sequence').
    """

    def __init__(self, extents, mesh=(1, 1), order="zigzag", device="cpu"):
        self.device = torch.device(device)
        self.ranks = mesh[0] * mesh[1]
        for role, ranks in zip(("batch", "sequence"), mesh):
            if ranks > 1 and extents.get(role, 1) == 1:
                raise ValueError(f"the {role} has one position and cannot be sharded over {ranks} ranks")
        self.mesh = None
        if dist.is_initialized():
            self.mesh = init_device_mesh(self.device.type, mesh, mesh_dim_names=("batch", "sequence"))
        self.ring = Ring(self.mesh and self.mesh.get_group("sequence"))
        self.layouts = {
            "batch": Layout(extents.get("batch", 1), mesh[0], "contiguous"),
            "sequence": Layout(extents.get("sequence", 1), mesh[1], order),
        }
        self.at = {"batch": self.mesh.get_local_rank("batch") if self.mesh else 0, "sequence": self.ring.rank}
        self._positions = {}

    def __getattr__(self, name):
        # `place.batch` and `place.sequence`: this rank's number of batch entries and positions.
        if name in ("batch", "sequence"):
            return self.layouts[name].count(self.at[name])
        raise AttributeError(name)

    @property
    def first(self):
        """The global index of the first batch entry."""
        return self.layouts["batch"].pieces(self.at["batch"])[0][0]

    def positions(self, *factors):
        """The global indices of the local positions along an axis with these factors: int64 (local extent)."""
        if factors not in self._positions:
            numbers = torch.zeros(1, dtype=torch.int64, device=self.device)
            for factor in factors:
                whole = factor not in self.layouts
                extent = factor if whole else self.layouts[factor].length
                own = torch.arange(extent, device=self.device)
                if not whole:
                    own = self.layouts[factor].positions(self.at[factor], self.device)
                numbers = (numbers.view(-1, 1) * extent + own).view(-1)
            self._positions[factors] = numbers
        return self._positions[factors]

    def cut(self, x, axis, *factors):
        """The local part of a tensor that is whole along an axis with these factors."""
        return x.index_select(axis, self.positions(*factors)) if self.ranks > 1 else x

    def part(self, x, axes):
        """The local part of a whole tensor; axes: a tuple of factors for each of its axes."""
        for axis, factors in enumerate(axes):
            if any(factor in self.layouts for factor in factors):
                x = self.cut(x, axis, *factors)
        return x

    def attention(self, sequence=False, batch=False):
        """The arguments of `attention` that describe how the sequence and the batch are sharded, if they are."""
        layout = self.layouts["sequence"]
        ring = {"ring": self.ring, "q_at": layout, "kv_at": layout} if sequence else {}
        return {**ring, "first": self.first if batch else 0}

    def _starts(self, axes):
        """The indices in the whole tensor at which runs of local elements start, and the length of a run: the
        last axis if it is whole, else None.
        """
        sizes = [self._extent(factors) for factors in axes]
        runs = bool(axes) and not any(factor in self.layouts for factor in axes[-1])
        leading = axes[:-1] if runs else axes
        starts = torch.zeros((), dtype=torch.int64, device=self.device)
        for d, factors in enumerate(leading):
            stride = 1
            for size in sizes[d + 1 :]:
                stride *= size
            starts = starts.unsqueeze(-1) + self.positions(*factors) * stride
        return starts, sizes[-1] if runs else None

    def _extent(self, factors):
        extent = 1
        for factor in factors:
            extent *= self.layouts[factor].length if factor in self.layouts else factor
        return extent

    def keep(self, dropout, axes):
        """True for kept elements of a tensor with these axes: this rank's part of the whole tensor's mask."""
        starts, run = self._starts(axes)
        return dropout.keep(starts, run) if run is not None else dropout.keep(starts, 1).squeeze(-1)

    def uniform(self, seed, offset, axes):
        """Uniform numbers for a tensor with these axes: this rank's part of the whole tensor's numbers."""
        starts, run = self._starts(axes)
        if run is None:
            return uniform(seed, offset, starts, 1).squeeze(-1)
        return uniform(seed, offset, starts, run)

    def gather(self, x, axes):
        """The whole tensor from its parts, on every rank. For results only, because it is not differentiable."""
        dtype = x.dtype if x.dtype.is_floating_point else torch.int64
        whole = torch.zeros([self._extent(factors) for factors in axes], dtype=dtype, device=x.device)
        index = [self.positions(*factors) for factors in axes]
        cut = {factor for factors in axes for factor in factors} & set(self.layouts)
        # Ranks that differ only along dimensions that this tensor does not shard have the same part; one of
        # them contributes it.
        if all(self.at[role] == 0 for role in self.layouts if role not in cut):
            whole[torch.meshgrid(*index, indexing="ij") if index else ()] = x.detach().to(whole.dtype)
        if self.ranks > 1:
            dist.all_reduce(whole)
        return whole.to(x.dtype)

    def copies(self, *roles):
        """The number of ranks that have the same part of a tensor that is sharded along the roles."""
        return self.ranks // prod(self.layouts[role].ranks for role in roles)

    def total(self, x):
        """The sum of a result of which each rank has a share."""
        x = x.detach().clone()
        if self.ranks > 1:
            dist.all_reduce(x)
        return x


def sum_gradients(model, place):
    """Sums the gradients of a model over all ranks, in one message."""
    if place.ranks == 1:
        return
    grads = [p.grad if p.grad is not None else torch.zeros_like(p) for p in model.parameters()]
    flat = torch.cat([g.reshape(-1).float() for g in grads])
    dist.all_reduce(flat)
    for p, g in zip(model.parameters(), flat.split([g.numel() for g in grads])):
        p.grad = g.view_as(p).to(p.dtype)


def wrapped(model, place, how):
    """The module to call, and the factor that the loss needs.

    how: 'sum' returns the model itself and requires `sum_gradients`; 'ddp' and 'fsdp' average gradients over
    ranks, which the factor undoes.
    """
    if place.ranks == 1 or how == "sum":
        return model, 1
    if how == "ddp":
        return torch.nn.parallel.DistributedDataParallel(model), place.ranks
    from torch.distributed.fsdp import fully_shard

    return fully_shard(model, mesh=init_device_mesh(place.device.type, (place.ranks,))), place.ranks


def full(x):
    """The whole of a tensor that FSDP may have sharded."""
    return x.full_tensor() if hasattr(x, "full_tensor") else x


def clip_gradients(model, largest):
    """Multiplies all gradients by largest / max(largest, norm), with the norm of all gradients as one vector."""
    grads = [p.grad for p in model.parameters() if p.grad is not None]
    norm = full(torch.nn.utils.get_total_norm(grads))
    for g in grads:
        g.mul_(largest / norm.clamp(min=largest))
    return norm

"""Gives each rank its parts of tensors, and computes gradients over all ranks."""

from math import prod

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P

from .attention.ring import Ring
from .philox import add, times, uniform, wide

ROLES = ("batch", "sequence")


class Place:
    """A rank's place in the mesh of batch × sequence, and its part of each tensor.

    extents: the global extents {'batch': B, 'sequence': S}; all ranks have equal parts. Axes of tensors are
    described by factors, the slowest first: 'batch', 'sequence', or the extent of a factor that is not
    sharded. order: 'contiguous' gives each rank one piece of the sequence; 'zigzag' gives rank r the pieces r
    and 2·ranks - 1 - r of 2·ranks, so that all ranks have equal work under a causal mask.
    """

    def __init__(self, extents, mesh=(1, 1), order="zigzag"):
        self.extents = {role: extents.get(role, 1) for role in ROLES}
        self.mesh = dict(zip(ROLES, mesh))
        self.ranks = mesh[0] * mesh[1]
        self.ring = Ring(mesh[1], order if mesh[1] > 1 else "contiguous")
        for role, ranks in self.mesh.items():
            parts = ranks * (2 if role == "sequence" and self.ring.order == "zigzag" else 1)
            if self.extents[role] % parts != 0:
                raise ValueError(f"the {role} of {self.extents[role]} does not divide into {parts} parts")
        self.batch = self.extents["batch"] // mesh[0]
        self.sequence = self.extents["sequence"] // mesh[1]

    @property
    def first(self):
        """The global index of the first batch entry."""
        return self.batch * lax.axis_index("batch") if self.mesh["batch"] > 1 else 0

    def positions(self, *factors):
        """The global indices of the local positions along an axis with these factors: int32 (local extent)."""
        numbers = jnp.zeros(1, jnp.int32)
        for factor in factors:
            if factor == "batch":
                own = self.first + jnp.arange(self.batch)
            elif factor == "sequence":
                own = self.ring.position(self.ring.rank(), jnp.arange(self.sequence), self.sequence)
            else:
                own = jnp.arange(factor)
            numbers = (numbers[:, None] * self.extents.get(factor, factor) + own).reshape(-1)
        return numbers

    def copies(self, *roles):
        """The number of ranks that have the same part of a tensor that is sharded along the roles."""
        return self.ranks // prod(self.mesh[role] for role in roles)

    def cut(self, x, axis, *factors):
        """The local part of a tensor that is whole along an axis with these factors."""
        return jnp.take(x, self.positions(*factors), axis) if self.ranks > 1 else x

    def part(self, x, axes):
        """The local part of a whole tensor; axes: a tuple of factors for each of its axes."""
        for axis, factors in enumerate(axes):
            if any(factor in ROLES for factor in factors):
                x = self.cut(x, axis, *factors)
        return x

    def attention(self, sequence=False, batch=False):
        """The arguments of `attention` that describe how the sequence and the batch are sharded, if they are."""
        return {**({"ring": self.ring} if sequence else {}), "first": self.first if batch else 0}

    def _starts(self, axes):
        """The indices (pairs of words) in the whole tensor of the first elements of rows, the length of rows,
        and whether both are multiples of 4.
        """
        last = [factor for factor in axes[-1] if factor in ROLES] if axes else []
        leading = axes if last else axes[:-1]
        start = wide(0)
        for factors in leading:
            extent = self._extent(factors)
            index = start[0][..., None], start[1][..., None]
            start = add(times(index, extent), wide(self.positions(*factors)))
        run = 1 if last or not axes else self._extent(axes[-1])
        start = times(start, run)
        shape = [len(self.positions(*factors)) for factors in leading]
        return tuple(jnp.broadcast_to(x, shape) for x in start), run, run % 4 == 0

    def _extent(self, factors):
        return int(np.prod([self.extents.get(factor, factor) for factor in factors], dtype=np.int64))

    def keep(self, dropout, axes):
        """True for kept elements of a tensor with these axes: this rank's part of the whole tensor's mask."""
        start, count, aligned = self._starts(axes)
        return dropout.keep(start, count, aligned and dropout.scheme == "onednn").reshape(self._shape(axes))

    def uniform(self, seed, offset, axes):
        """Uniform numbers for a tensor with these axes: this rank's part of the whole tensor's numbers."""
        return uniform(seed, offset, *self._starts(axes)).reshape(self._shape(axes))

    def _shape(self, axes):
        return [len(self.positions(*factors)) for factors in axes]


def loss_and_gradients(model, mesh=(1, 1), order="zigzag"):
    """A function (parameters, inputs) → (loss, gradients by name), over a mesh of batch × sequence ranks.

    model: the module `model`. Parameters and inputs are whole tensors by name; 64-bit numbers are ints. Every
    device has all parameters, and its part of everything else.
    """
    place = Place(model.EXTENTS, mesh, order)

    def local(parameters, inputs):
        parts = {name: place.part(inputs[name], axes) for name, (_, axes) in model.INPUTS.items()}
        share = jax.value_and_grad(lambda own: model.forward(place, own, **parts)["loss"])(parameters)
        return lax.psum(share, ROLES)

    devices = np.array(jax.devices()[: place.ranks]).reshape(mesh)
    specs = {"mesh": Mesh(devices, ROLES), "in_specs": P(), "out_specs": P(), "check_vma": False}
    compiled = jax.jit(jax.shard_map(local, **specs))

    def run(parameters, inputs):
        return compiled(parameters, {name: argument(x) for name, x in inputs.items()})

    run.compiled = compiled
    return run


def argument(x):
    """A 64-bit int as two words, low word first; any other value unchanged."""
    return np.array([x & 0xFFFFFFFF, (x >> 32) & 0xFFFFFFFF], np.uint32) if isinstance(x, int) else x

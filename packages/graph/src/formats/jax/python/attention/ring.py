"""The ranks that share a sequence: the positions of each rank, and messages to the next rank."""

from dataclasses import dataclass

import jax.numpy as jnp
from jax import lax


@dataclass(frozen=True)
class Ring:
    """The ranks that share a sequence, along the axis 'sequence' of the mesh."""

    size: int = 1
    order: str = "contiguous"

    def rank(self):
        return lax.axis_index("sequence") if self.size > 1 else 0

    def position(self, rank, local, count):
        """The global index of a local position on a rank with `count` positions."""
        if self.order == "contiguous":
            return rank * count + local
        half = count // 2
        piece = jnp.where(local < half, rank, 2 * self.size - 1 - rank)
        return piece * half + local % half

    def piece(self, count):
        """The number of consecutive sequence positions in each piece on a rank."""
        return count if self.order == "contiguous" else count // 2

    def rotate(self, x):
        """Sends x to the next rank, and returns the x of the previous rank."""
        if self.size == 1:
            return x
        return lax.ppermute(x, "sequence", [(n, (n + 1) % self.size) for n in range(self.size)])

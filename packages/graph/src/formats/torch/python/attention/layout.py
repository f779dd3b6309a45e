"""Layouts: which positions of a dimension each rank has."""

import torch


class Layout:
    """A dimension of `length` positions, sharded over `ranks`.

    order: 'contiguous' gives each rank one piece. 'zigzag' makes 2·ranks pieces and gives rank r the pieces r
    and 2·ranks - 1 - r, so that all ranks have equal work under a causal mask. The length need not be
    divisible, and pieces may be empty.
    """

    def __init__(self, length, ranks=1, order="zigzag"):
        if order not in ("zigzag", "contiguous"):
            raise ValueError(f"order must be zigzag or contiguous, got {order}")
        self.length, self.ranks = length, ranks
        self.order = order if ranks > 1 else "contiguous"

    def pieces(self, rank):
        """(first position, number of positions) of each piece of a rank, in the rank's order."""
        folds = 2 if self.order == "zigzag" else 1
        cuts = [n * self.length // (folds * self.ranks) for n in range(folds * self.ranks + 1)]
        own = [rank] if folds == 1 else [rank, 2 * self.ranks - 1 - rank]
        return [(cuts[n], cuts[n + 1] - cuts[n]) for n in own]

    def count(self, rank):
        """The number of positions of a rank."""
        return sum(count for _, count in self.pieces(rank))

    def positions(self, rank, device=None):
        """The global indices of a rank's positions, in the rank's order: int64 (count)."""
        return torch.cat([torch.arange(first, first + n, device=device) for first, n in self.pieces(rank)])

"""Scores: the program and masks that change them, and the dropout of their probabilities."""

from collections.abc import Callable
from dataclasses import dataclass

import torch

from ..philox import Dropout


@dataclass(frozen=True)
class Attention:
    """The operations on a score, in this order: scale, `score`, masks. All indices are global.

    scale: the factor of q·k; None means 1/sqrt(D). score(s, tile, captures): returns the new scores.
    visible(tile, captures): returns bools that broadcast to the scores. left, right: query i sees the keys
    from i + diagonal - left to i + diagonal + right; None means no bound. bottom_right: the diagonal is Skv -
    Sq instead of 0; with lengths, each sequence has its own diagonal.
    """

    scale: float | None = None
    score: Callable | None = None
    visible: Callable | None = None
    left: int | None = None
    right: int | None = None
    bottom_right: bool = False


@dataclass(frozen=True)
class Operands:
    """The operands of attention other than q, k and v, and the global extents."""

    extents: tuple  # (H, Sq, Skv)
    first: int = 0  # the global index of the first batch entry
    dropout: Dropout | None = None
    # A given mask of kept probabilities, (B|1, H|1, local Sq|1, Skv); keep_factor multiplies kept
    # probabilities.
    keep: torch.Tensor | None = None
    keep_factor: float = 1.0
    lengths_q: torch.Tensor | None = None  # (B)
    lengths_kv: torch.Tensor | None = None  # (B)


@dataclass(frozen=True)
class Tile:
    """The position of a tile of scores: global indices of batch entries, heads, queries and keys, which
    broadcast to (B, Hq, Tq, Tk).
    """

    b: torch.Tensor
    h: torch.Tensor
    i: torch.Tensor
    j: torch.Tensor
    first: int  # global index of local batch entry 0
    row0: int  # local index of the first query
    i0: int
    j0: int

    @property
    def entry(self):
        """The local indices of the batch entries."""
        return self.b - self.first

    @property
    def row(self):
        """The local indices of the queries."""
        return self.i + (self.row0 - self.i0)

    def part(self, capture):
        """The part of a tensor (B|1, H|1, local Sq|1, Skv|1) that broadcasts to the tile."""
        if capture.shape[2] > 1:
            capture = capture.narrow(2, self.row0, self.i.shape[2])
        return capture.narrow(3, self.j0, self.j.shape[3]) if capture.shape[3] > 1 else capture


def tile_at(operands, q, row0, i0, ni, j0, nj):
    def along(first, count, axis):
        shape = [1, 1, 1, 1]
        shape[axis] = count
        return torch.arange(first, first + count, device=q.device).view(shape)

    first = operands.first
    b, h = along(first, q.shape[0], 0), along(0, q.shape[1], 1)
    return Tile(b, h, along(i0, ni, 2), along(j0, nj, 3), first, row0, i0, j0)


def diagonal_of(call, operands):
    """The key index of the diagonal minus its query index: an int, or (B, 1, 1, 1) if each sequence has its
    own length.
    """
    if not call.bottom_right:
        return 0
    _, queries, keys = operands.extents
    if operands.lengths_q is None and operands.lengths_kv is None:
        return keys - queries
    ends = operands.lengths_kv if operands.lengths_kv is not None else keys
    rows = operands.lengths_q if operands.lengths_q is not None else queries
    return (ends - rows).view(-1, 1, 1, 1)


def reach(call, operands, i0, ni, j0, nj):
    """How many of a block's scores the band and the lengths leave visible: 'none', 'some' or 'all'."""
    if ni == 0 or nj == 0:
        return "none"
    has_lengths = operands.lengths_q is not None or operands.lengths_kv is not None
    diagonal = diagonal_of(call, operands)
    if not isinstance(diagonal, int):
        return "some"
    right = j0 - (i0 + ni - 1 + diagonal)  # distance of the first key from the last query's diagonal
    left = i0 + diagonal - (j0 + nj - 1)
    if (call.right is not None and right > call.right) or (call.left is not None and left > call.left):
        return "none"
    right_whole = call.right is None or j0 + nj - 1 - (i0 + diagonal) <= call.right
    left_whole = call.left is None or i0 + ni - 1 + diagonal - j0 <= call.left
    return "all" if right_whole and left_whole and not has_lengths else "some"


def visible_scores(call, operands, tile, captures, kind):
    """Bools that broadcast to the tile, or None if all scores are visible."""
    parts = []
    if kind == "some":
        distance = tile.j - tile.i - diagonal_of(call, operands)
        if call.right is not None:
            parts.append(distance <= call.right)
        if call.left is not None:
            parts.append(-distance <= call.left)
    if operands.lengths_kv is not None:
        parts.append(tile.j < operands.lengths_kv.view(-1, 1, 1, 1))
    if operands.lengths_q is not None:
        parts.append(tile.i < operands.lengths_q.view(-1, 1, 1, 1))
    if call.visible is not None:
        parts.append(call.visible(tile, captures))
    visible = None
    for part in parts:
        visible = part if visible is None else visible & part
    return visible


def scores(call, operands, raw, tile, captures, kind):
    """The scores from raw = scale·q·kᵀ; -inf where a query does not see a key."""
    s = raw if call.score is None else call.score(raw, tile, captures)
    visible = visible_scores(call, operands, tile, captures, kind)
    return s if visible is None else torch.where(visible, s, -torch.inf)


def dropped(operands, tile, p):
    """The factors of probabilities, 0 for dropped ones; None without dropout."""
    if operands.keep is not None:
        return tile.part(operands.keep).to(p.dtype) * operands.keep_factor
    dropout = operands.dropout
    if dropout is None or dropout.p == 0:
        return None
    keep = dropout.keep_scores(tile.b, tile.h, tile.i, tile.j0, tile.j.shape[3], operands.extents)
    return keep.to(p.dtype) * dropout.factor


def finite(lse):
    """lse, but 0 for rows that see no key, so that e^(s - finite(lse)) is 0 in these rows instead of NaN."""
    return lse.masked_fill(lse == -torch.inf, 0)

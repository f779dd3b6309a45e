"""Scores: the program and masks that change them, and the dropout of their probabilities."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from ..philox import Dropout, add, times, wide
from .ring import Ring


@dataclass(frozen=True)
class Attention:
    """The operations on a score, in this order: scale, `score`, masks. All indices are global.

    scale: the factor of q·k; None means 1/sqrt(D). score(s, tile, captures): returns the new scores.
    visible(tile, captures): returns bools that broadcast to the scores. left, right: query i sees the keys
    from i + diagonal - left to i + diagonal + right; None means no bound. bottom_right: the diagonal is Skv -
    Sq instead of 0; with lengths, each sequence has its own diagonal.
    """

    scale: Any = None
    score: Callable | None = None
    visible: Callable | None = None
    left: int | None = None
    right: int | None = None
    bottom_right: bool = False


@dataclass(frozen=True)
class Setup:
    """The parts of attention that are known when it is compiled."""

    call: Attention
    ring: Ring
    dropout: Dropout | None  # its seed and offset are operands
    keep_factor: float
    heads: int
    queries: int  # over all ranks
    keys: int


@dataclass(frozen=True)
class Tile:
    """The position of a tile of scores: global indices of batch entries, heads, queries and keys, which
    broadcast to (B, Hq, Tq, Tk); entry and row are local.
    """

    b: jax.Array
    h: jax.Array
    i: jax.Array
    j: jax.Array
    entry: jax.Array
    row: jax.Array

    def part(self, capture):
        """The part of a tensor (B|1, H|1, local Sq|1, Skv|1) that broadcasts to the tile."""
        if capture.shape[2] > 1:
            capture = lax.dynamic_slice_in_dim(capture, self.row.reshape(-1)[0], self.i.shape[2], 2)
        if capture.shape[3] > 1:
            capture = lax.dynamic_slice_in_dim(capture, self.j.reshape(-1)[0], self.j.shape[3], 3)
        return capture


def diagonal_of(setup, operands):
    """The key index of the diagonal minus its query index: an int, or (B, 1, 1, 1) if each sequence has its
    own length.
    """
    if not setup.call.bottom_right:
        return 0
    ends, rows = operands.get("lengths_kv", setup.keys), operands.get("lengths_q", setup.queries)
    diagonal = ends - rows
    return diagonal if isinstance(diagonal, int) else diagonal.reshape(-1, 1, 1, 1)


def reaches(setup, operands, i0, ni, j0, nj):
    """True if the band leaves a score of a tile visible."""
    call, diagonal = setup.call, diagonal_of(setup, operands)
    if not isinstance(diagonal, int):
        return True
    seen = True
    if call.right is not None:
        seen = j0 - (i0 + ni - 1 + diagonal) <= call.right
    if call.left is not None:
        seen = (i0 + diagonal - (j0 + nj - 1) <= call.left) & seen
    return seen


def visible_scores(setup, operands, tile, captures):
    """Bools that broadcast to the tile, or None if all scores are visible."""
    call, parts = setup.call, []
    distance = tile.j - tile.i - diagonal_of(setup, operands)
    if call.right is not None:
        parts.append(distance <= call.right)
    if call.left is not None:
        parts.append(-distance <= call.left)
    for name, at in (("lengths_kv", tile.j), ("lengths_q", tile.i)):
        if name in operands:
            parts.append(at < operands[name].reshape(-1, 1, 1, 1))
    if call.visible is not None:
        parts.append(call.visible(tile, captures))
    visible = None
    for part in parts:
        visible = part if visible is None else visible & part
    return visible


def scores(setup, operands, raw, tile, captures):
    """The scores from raw = q·kᵀ; -inf where a query does not see a key."""
    s = raw if setup.call.score is None else setup.call.score(raw, tile, captures)
    visible = visible_scores(setup, operands, tile, captures)
    return s if visible is None else jnp.where(visible, s, -jnp.inf)


def dropped(setup, operands, tile):
    """The factors of probabilities, 0 for dropped ones; None without dropout."""
    if "keep" in operands:
        return tile.part(operands["keep"]).astype(jnp.float32) * setup.keep_factor
    if setup.dropout is None or setup.dropout.p == 0:
        return None
    dropout = replace(setup.dropout, seed=operands["seed"], offset=operands["offset"])
    start = add(times(wide(tile.b), setup.heads), wide(tile.h))
    start = add(times(add(times(start, setup.queries), wide(tile.i)), setup.keys), wide(tile.j[..., :1]))
    count = tile.j.shape[3]
    # PyTorch's words start at the offset.
    by_offset = dropout.scheme == "onednn" or setup.dropout.offset % 4 == 0
    aligned = by_offset and setup.keys % 4 == 0 and count % 4 == 0
    keep = dropout.keep(tuple(jnp.squeeze(x, 3) for x in start), count, aligned)
    return keep.astype(jnp.float32) * dropout.factor


def finite(lse):
    """lse, but 0 for rows that see no key, so that e^(s - finite(lse)) is 0 in these rows instead of NaN."""
    return jnp.where(lse == -jnp.inf, 0.0, lse)

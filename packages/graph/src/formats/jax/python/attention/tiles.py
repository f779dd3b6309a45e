"""The loop over tiles of scores, and the matrix products in a tile.

Shapes: q (B, Hq, Tq, D), k (B, Hk, Tk, D), v (B, Hv, Tk, Dv); Hk and Hv divide Hq.
"""

import jax.numpy as jnp
from jax import lax

from .score import Tile, reaches

TILE = 512


def grouped(a, b):
    """a·b of (B, Ha, M, K) and (B, Hb, K, N), where Hb divides Ha and neighbouring heads of a share a head of
    b.
    """
    B, heads, rows, width = a.shape
    return (a.reshape(B, b.shape[1], heads // b.shape[1] * rows, width) @ b).reshape(B, heads, rows, -1)


def summed(a, b, heads):
    """aᵀ·b, summed over rows and over the neighbouring heads that share a head: (B, heads, M, N)."""
    a, b = (x.reshape(x.shape[0], heads, -1, x.shape[-1]) for x in (a, b))
    return a.mT @ b


def tile_extent(ring, whole, count):
    """The number of rows or columns of a tile: the largest one, up to TILE, that divides the consecutive
    positions on a rank.

    whole: the number of positions on all ranks; count: the number on one rank.
    """
    piece = ring.piece(count) if whole > count else count
    return next(n for n in range(min(TILE, piece), 0, -1) if piece % n == 0)


def cut_rows(x, at, count):
    return lax.dynamic_slice_in_dim(x, at, count, 2)


def with_rows(x, rows, at):
    return lax.dynamic_update_slice_in_dim(x, rows, at, 2)


def over_tiles(setup, operands, q, k, owner, carry, compute):
    """Visits the tiles of the local queries and a rank's keys that the band leaves visible.

    compute(carry, tile, row, rows, column, columns) adds a tile to the carry.
    """
    (B, H, n, _), m = q.shape, k.shape[2]
    rows, columns = tile_extent(setup.ring, setup.queries, n), tile_extent(setup.ring, setup.keys, m)

    def of_tile(index, carry):
        row, column = index // (m // columns) * rows, index % (m // columns) * columns
        i0 = setup.ring.position(setup.ring.rank(), row, n)
        j0 = setup.ring.position(owner, column, m)
        i, j = (i0 + jnp.arange(rows)).reshape(1, 1, -1, 1), (j0 + jnp.arange(columns)).reshape(1, 1, 1, -1)
        entry = jnp.arange(B).reshape(-1, 1, 1, 1)
        local = (row + jnp.arange(rows)).reshape(1, 1, -1, 1)
        tile = Tile(operands["first"] + entry, jnp.arange(H).reshape(1, -1, 1, 1), i, j, entry, local)

        def add_tile(carry):
            return compute(carry, tile, row, rows, column, columns)

        seen = reaches(setup, operands, i0, rows, j0, columns)
        return add_tile(carry) if seen is True else lax.cond(seen, add_tile, lambda carry: carry, carry)

    return lax.fori_loop(0, n // rows * (m // columns), of_tile, carry)

"""Philox4x32 words, and dropout masks that depend only on global indices, in 32-bit operations.

A mask is a function of (seed, offset, index of the element in the whole tensor). It does not depend on rank,
tile or order of computation, so every sharding drops the same elements. 64-bit numbers are pairs (high, low)
of uint32.

Sources: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (2011); PyTorch's memory-efficient
attention; oneDNN's Dropout.
"""

from dataclasses import dataclass
from functools import lru_cache
from math import floor
from typing import Any

import jax.numpy as jnp
import numpy as np

WORD = 0xFFFFFFFF


def wide(n):
    """A 64-bit number from an int, from two words (low word first), or from indices."""
    if isinstance(n, int):
        return np.uint32((n >> 32) & WORD), np.uint32(n & WORD)
    n = jnp.asarray(n)
    if n.dtype == jnp.uint32 and n.shape == (2,):
        return n[1], n[0]
    return jnp.zeros((), jnp.uint32), n.astype(jnp.uint32)


def add(a, b):
    """a + b, modulo 2^64."""
    low = a[1] + b[1]
    return a[0] + b[0] + (low < b[1]).astype(jnp.uint32), low


def times(a, n):
    """a·n for an int n, modulo 2^64."""
    high, low = np.uint32((n >> 32) & WORD), np.uint32(n & WORD)
    carried, product = mulhilo(a[1], low)
    return carried + a[0] * low + a[1] * high, product


def mulhilo(a, b):
    """The high and low words of a·b, computed from 16-bit halves."""
    a, b = jnp.asarray(a, jnp.uint32), jnp.asarray(b, jnp.uint32)
    (ah, al), (bh, bl) = (a >> 16, a & 0xFFFF), (b >> 16, b & 0xFFFF)
    middle = ((al * bl) >> 16) + ((al * bh) & 0xFFFF) + ((ah * bl) & 0xFFFF)
    return ah * bh + ((al * bh) >> 16) + ((ah * bl) >> 16) + (middle >> 16), a * b


def philox4x32(counter, key, rounds=10):
    """The block function: four words from four counter words and two key words, which broadcast."""
    c0, c1, c2, c3 = (jnp.asarray(c, jnp.uint32) for c in counter)
    k0, k1 = (jnp.asarray(k, jnp.uint32) for k in key)
    for n in range(rounds):
        if n > 0:
            k0, k1 = k0 + np.uint32(0x9E3779B9), k1 + np.uint32(0xBB67AE85)
        high0, low0 = mulhilo(c0, np.uint32(0xD2511F53))
        high1, low1 = mulhilo(c2, np.uint32(0xCD9E8D57))
        c0, c1, c2, c3 = high1 ^ c1 ^ k0, low1, high0 ^ c3 ^ k1, low0
    return c0, c1, c2, c3


@lru_cache
def first_word_above(p):
    """The smallest word x with f32(x)·2^-32 + 2^-33 > f32(p), computed in f32; 2^32 if there is none."""
    low, high = 0, 2**32
    while low < high:
        middle = (low + high) // 2
        if np.float32(middle) * np.float32(2.0**-32) + np.float32(2.0**-33) > np.float32(p):
            high = middle
        else:
            low = middle + 1
    return low


@dataclass(frozen=True)
class Dropout:
    """The rule that decides which elements are dropped.

    p: the probability to drop, a float that is known when a program is compiled; seed and offset: an int, or
    two uint32 words, low word first; scheme: 'onednn' or 'torch-efficient'.
    """

    p: float
    seed: Any
    offset: Any = 0
    scheme: str = "onednn"

    def __post_init__(self):
        if self.scheme not in ("onednn", "torch-efficient"):
            raise ValueError(f"scheme must be onednn or torch-efficient, got {self.scheme}")
        if not 0 <= self.p <= 1:
            raise ValueError(f"p must be in [0, 1], got {self.p}")

    @property
    def threshold(self):
        """The smallest word that is kept."""
        if self.scheme == "onednn":
            return floor(4294967295 * float(np.float32(self.p))) + 1
        return first_word_above(self.p)

    @property
    def factor(self):
        """The factor of kept elements, 1 / (1 - p), rounded to f32 as the scheme does; 0 at p = 1."""
        kept = 1 - float(np.float32(self.p))
        if self.scheme == "onednn":
            kept = float(np.float32(kept))
        return float(np.float32(1 / kept)) if kept > 0 else 0.0

    def words(self, start, count, aligned=False):
        """The words of `count` consecutive elements from each element of `start`, a pair: uint32
        (*start.shape, count).

        aligned: whether all positions in the stream of words, and the count, are multiples of 4; then no word
        is computed unnecessarily.
        """
        steps = np.arange(0, count, 4 if aligned else 1, dtype=np.uint32)
        at = add(tuple(jnp.asarray(x)[..., None] for x in start), (np.uint32(0), steps))
        offset = wide(self.offset)
        if self.scheme == "onednn":
            counter = (offset[1], offset[0], at[1] & np.uint32(WORD - 3), at[0])
        else:
            at = add(at, offset)
            counter = ((at[1] >> 2) | (at[0] << 30), at[0] >> 2, 0, 0)
        high, low = wide(self.seed)
        blocks = jnp.stack(jnp.broadcast_arrays(*philox4x32(counter, (low, high))), -1)
        if aligned:
            return blocks.reshape(*blocks.shape[:-2], count)
        chosen = jnp.broadcast_to(at[1] & 3, blocks.shape[:-1]).astype(jnp.int32)
        return jnp.take_along_axis(blocks, chosen[..., None], -1)[..., 0]

    def keep(self, start, count, aligned=False):
        """True for kept elements among `count` consecutive elements from each element of `start`."""
        words = self.words(start, count, aligned)
        if self.threshold > WORD:
            return jnp.zeros(words.shape, bool)
        return words >= np.uint32(self.threshold)


def uniform(seed, offset, start, count, aligned=False):
    """f32 numbers in [2^-33, 1] for `count` consecutive elements from each element of `start`, by the scheme
    onednn.
    """
    words = Dropout(0.0, seed, offset).words(start, count, aligned)
    return words.astype(jnp.float32) * 2.0**-32 + 2.0**-33

"""Philox4x32 words, and dropout masks that depend only on global indices.

A mask is a function of (seed, offset, index of the element in the whole tensor). It does not depend on rank,
tile or order of computation, so every sharding drops the same elements. All arithmetic is on int64 tensors
with u32 values, because PyTorch does not have u32 multiplication on every device.

Sources: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (2011); PyTorch's memory-efficient
attention; oneDNN's Dropout; FlashAttention-2's dropout.h.
"""

from dataclasses import dataclass
from functools import lru_cache
from math import floor

import torch

WORD = 0xFFFFFFFF

# The multipliers minus 2^32. They are negative, so that a product with a u32 fits in int64.
_M0 = 0xD2511F53 - 2**32
_M1 = 0xCD9E8D57 - 2**32


def _mulhilo(a, multiplier):
    """The high and low words of a·(multiplier + 2^32)."""
    product = a * multiplier
    return (product >> 32) + a, product & WORD


def philox4x32(counter, key, rounds=10):
    """The block function: four words from four counter words and two key words, which are ints or int64
    tensors and broadcast.
    """
    c0, c1, c2, c3 = counter
    k0, k1 = key
    for n in range(rounds):
        if n > 0:
            k0, k1 = (k0 + 0x9E3779B9) & WORD, (k1 + 0xBB67AE85) & WORD
        high0, low0 = _mulhilo(c0, _M0)
        high1, low1 = _mulhilo(c2, _M1)
        c0, c1, c2, c3 = high1 ^ c1 ^ k0, low1, high0 ^ c3 ^ k1, low0
    return c0, c1, c2, c3


def _halves(value):
    """The low and high words of a 64-bit number."""
    return value & WORD, (value >> 32) & WORD


def _f32(value):
    """The nearest f32, as a Python float."""
    return float(torch.tensor(value, dtype=torch.float32))


@lru_cache
def first_word_above(p):
    """The smallest word x with f32(x)·2^-32 + 2^-33 > f32(p), computed in f32; 2^32 if there is none."""
    low, high = 0, 2**32
    while low < high:
        middle = (low + high) // 2
        word = torch.tensor(middle, dtype=torch.int64).to(torch.float32)
        if float(word * 2.0**-32 + 2.0**-33) > _f32(p):
            high = middle
        else:
            low = middle + 1
    return low


@dataclass(frozen=True)
class Dropout:
    """The rule that decides which elements are dropped.

    p: the probability to drop; seed and offset: 64-bit integers; scheme: 'onednn', 'torch-efficient' or
    'flash-attention-2'.
    """

    p: float
    seed: int
    offset: int = 0
    scheme: str = "onednn"

    def __post_init__(self):
        if self.scheme not in ("onednn", "torch-efficient", "flash-attention-2"):
            names = "onednn, torch-efficient or flash-attention-2"
            raise ValueError(f"scheme must be {names}, got {self.scheme}")
        if not 0 <= self.p <= 1:
            raise ValueError(f"p must be in [0, 1], got {self.p}")

    @property
    def threshold(self):
        """The smallest word that is kept; for flash-attention-2, the smallest byte that is dropped."""
        if self.scheme == "onednn":
            return floor(4294967295 * _f32(self.p)) + 1
        if self.scheme == "torch-efficient":
            return first_word_above(self.p)
        return floor(_f32(1 - _f32(self.p)) * 255) + 1

    @property
    def factor(self):
        """The factor of kept elements, 1 / (1 - p), rounded to f32 as the scheme does; 0 at p = 1."""
        kept = 1 - _f32(self.p)
        if self.scheme != "torch-efficient":
            kept = _f32(kept)
        return _f32(1 / kept) if kept > 0 else 0.0

    def words(self, start, count):
        """The words of `count` consecutive elements from each element of `start`, int64 indices in the whole
        tensor: shape (*start.shape, count).
        """
        key = _halves(self.seed)
        if self.scheme == "onednn":
            at_low, at_high = _halves(start)
        else:
            # The position in the stream of words, offset + index modulo 2^64, computed in halves with a
            # carry.
            low = (start & WORD) + (self.offset & WORD)
            at_high = ((start >> 32) + ((self.offset >> 32) & WORD) + (low >> 32)) & WORD
            at_low = low & WORD
        shift = at_low & 3
        aligned = not bool(shift.any())
        blocks = (count + 3) // 4 if aligned else (count + 6) // 4
        # The index of the block of four words: 30 high bits and 32 low bits.
        first = (at_low >> 2) | ((at_high & 3) << 30)
        low = first.unsqueeze(-1) + torch.arange(blocks, device=start.device)
        high = ((at_high >> 2).unsqueeze(-1) + (low >> 32)) & 0x3FFFFFFF
        low = low & WORD
        if self.scheme == "onednn":
            counter = (*_halves(self.offset), (low << 2) & WORD, (high << 2) | (low >> 30))
        else:
            counter = (low, high, 0, 0)
        words = torch.stack(torch.broadcast_tensors(*philox4x32(counter, key)), dim=-1).flatten(-2)
        if aligned:
            return words[..., :count]
        at = shift.unsqueeze(-1) + torch.arange(count, device=start.device)
        return words.gather(-1, at)

    def keep(self, start, count):
        """True for kept elements among `count` consecutive elements from each element of `start`."""
        return self.words(start, count) >= self.threshold

    def keep_scores(self, b, h, i, j0, count, extents):
        """True for kept scores (b, h, i, j), j from j0 on: bool (B, H, Tq, count).

        b (B, 1, 1, 1), h (1, H, 1, 1) and i (1, 1, Tq, 1) are global indices; extents: the global (H, Sq,
        Skv).
        """
        heads, queries, keys = extents
        if self.scheme != "flash-attention-2":
            start = ((b * heads + h) * queries + i) * keys + j0
            return self.keep(start.squeeze(-1), count)
        # A call returns 16 bytes: columns j and j + 1 of four groups of 8, in rows i and i + 8.
        first, last = j0 >> 5, (j0 + count - 1) >> 5
        tile = torch.arange(first, last + 1, device=b.device).view(-1, 1)
        pair = torch.arange(4, device=b.device)
        step = ((b * heads + h) * 32 + (i & 7) * 4).unsqueeze(-1) + pair
        low = (step & WORD) + (self.offset & WORD)
        high = ((step >> 32) + ((self.offset >> 32) & WORD) + (low >> 32)) & WORD
        words = philox4x32((low & WORD, high, (i >> 4).unsqueeze(-1), tile), _halves(self.seed), rounds=7)
        words = torch.stack(torch.broadcast_tensors(*words), dim=-2)
        shift = (((i >> 3) & 1) * 16).unsqueeze(-1).unsqueeze(-1)
        halves = torch.stack([words >> shift, words >> (shift + 8)], dim=-1) & 255
        columns = halves.flatten(-4)
        return columns[..., j0 - 32 * first : j0 - 32 * first + count] < self.threshold


def uniform(seed, offset, start, count):
    """f32 numbers in [2^-33, 1] for `count` consecutive elements from each element of `start`, from the words
    of the scheme onednn.
    """
    words = Dropout(0.0, seed, offset).words(start, count)
    return words.to(torch.float32) * 2.0**-32 + 2.0**-33


_known = philox4x32((0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344), (0xA4093822, 0x299F31D0))
if _known != (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1):
    raise ImportError("Philox4x32-10 does not return the words of Random123's known answer")

"""Compares the masks that ranks draw with those of @tilewise/philox: python -m
src.formats.torch.python.test_masks FILE.

FILE is a safetensors file of masks (B, H, Sq, Skv) as u8; its metadata has p, seed, offset and scheme of each
mask, as JSON. Each rank draws the mask of the scores between its queries and the keys of every rank, and its
part of the same mask as that of a plain tensor.
"""

import json
import sys
import unittest

import torch

from .attention.layout import Layout
from .parallel import Place
from .philox import Dropout
from .safetensors import load_safetensors

MASKS, TEXTS = load_safetensors(sys.argv.pop())


def place_of(extents, mesh, batch_rank, rank, order):
    """The place of a rank of a mesh, without processes."""
    place = Place(extents)
    place.ranks = mesh[0] * mesh[1]
    place.layouts = {
        "batch": Layout(extents["batch"], mesh[0], "contiguous"),
        "sequence": Layout(extents["sequence"], mesh[1], order),
    }
    place.at = {"batch": batch_rank, "sequence": rank}
    return place


class Masks(unittest.TestCase):
    def test_ranks_draw_their_part(self):
        for name, mask in MASKS.items():
            given = json.loads(TEXTS[name])
            dropout = Dropout(given["p"], int(given["seed"]), int(given["offset"]), given["scheme"])
            for mesh in ((1, 1), (1, 2), (1, 4), (2, 2)):
                for order in ("zigzag", "contiguous"):
                    with self.subTest(name, mesh=mesh, order=order):
                        self.check(dropout, mask.bool(), mesh, order)

    def check(self, dropout, mask, mesh, order):
        B, H, Sq, Skv = mask.shape
        extents = {"batch": B, "sequence": Sq}
        keys = Layout(Skv, mesh[1], order)
        for batch_rank in range(mesh[0]):
            for rank in range(mesh[1]):
                place = place_of(extents, mesh, batch_rank, rank, order)
                b = place.positions("batch")
                for i0, ni in place.layouts["sequence"].pieces(rank):
                    i = torch.arange(i0, i0 + ni)
                    for j0, nj in (piece for owner in range(mesh[1]) for piece in keys.pieces(owner)):
                        h = torch.arange(H).view(1, -1, 1, 1)
                        index = b.view(-1, 1, 1, 1), h, i.view(1, 1, -1, 1)
                        found = dropout.keep_scores(*index, j0, nj, (H, Sq, Skv))
                        self.assertTrue(torch.equal(found, mask[b, :, i0 : i0 + ni, j0 : j0 + nj]))
                if dropout.scheme != "flash-attention-2":
                    axes = ("batch",), (H,), ("sequence",), (Skv,)
                    self.assertTrue(torch.equal(place.keep(dropout, axes), place.part(mask, axes)))


if __name__ == "__main__":
    unittest.main(verbosity=0)

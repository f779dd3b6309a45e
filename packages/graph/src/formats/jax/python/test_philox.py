"""Compares words and masks with known answers.

In packages/graph: python -m src.formats.jax.python.test_philox [VECTORS], a folder with Philox vectors.
"""

import json
import sys
import unittest
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

from .parallel import Place
from .philox import Dropout, add, philox4x32, times, wide

VECTORS = Path(sys.argv.pop()) if len(sys.argv) > 1 else Path(__file__).parents[6] / "fixtures" / "philox"


def load(name):
    return json.loads((VECTORS / f"{name}.json").read_text())


def mask_of(dropout, B, H, M, N, first=0):
    """A mask, or its columns from `first` on."""
    rows = np.arange(B * H * M, dtype=np.uint32)
    aligned = all(n % 4 == 0 for n in (N, first, dropout.offset))

    @jax.jit
    def draw(rows):
        return dropout.keep(add(times(wide(rows), N), wide(first)), N - first, aligned)

    return draw(rows)


class Philox(unittest.TestCase):
    def test_known_answers(self):
        vectors = [v for v in load("philox_kat")["vectors"] if v["alg"] == "philox4x32"]
        self.assertGreater(len(vectors), 60)
        for rounds in {v["rounds"] for v in vectors}:
            own = [v for v in vectors if v["rounds"] == rounds]
            counter, key, out = (
                np.array([[int(x, 16) for x in v[name]] for v in own], np.uint32)
                for name in ("counter", "key", "out")
            )
            found = jax.jit(philox4x32, static_argnums=2)(tuple(counter.T), tuple(key.T), rounds)
            np.testing.assert_array_equal(np.stack(found, -1), out)

    def test_masks(self):
        for scheme, name, key in (
            ("torch-efficient", "mem_eff_dropout_vectors", "cases"),
            ("onednn", "onednn_philox_vectors", "masks"),
        ):
            for v in load(name)[key]:
                dropout = Dropout(v["p"], int(v["seed"], 16), int(v["offset"], 16), scheme)
                bits = np.asarray(mask_of(dropout, v["B"], v["H"], v["M"], v["N"])).ravel()
                self.assertEqual(np.packbits(bits, bitorder="little").tobytes().hex(), v["mask_hex"], scheme)

    def test_parts_are_those_of_the_whole(self):
        for keys in (64, 57):
            for offset in (0, 7, 2**34 + 2):
                dropout = Dropout(0.3, 2**63 + 5, offset, "torch-efficient")
                whole = mask_of(dropout, 2, 3, 5, keys)
                np.testing.assert_array_equal(mask_of(dropout, 2, 3, 5, keys, 11), whole[:, 11:])

    def test_masks_of_other_tensors_count_all_their_elements(self):
        dropout = Dropout(0.3, 2**63 + 5, 2**34 + 2)
        whole = np.asarray(jax.jit(lambda: dropout.keep((jnp.zeros((), jnp.uint32),) * 2, 6 * 5 * 7))())
        for axes in (((6,), (5,), (7,)), (("batch", "sequence"), (7,)), ((5,), (42,)), ((6, 5, 7),)):
            place = Place({"batch": 6, "sequence": 5})
            mask = jax.jit(lambda axes=axes, place=place: place.keep(dropout, axes))()
            np.testing.assert_array_equal(np.asarray(mask).ravel(), whole)

    def test_indices_of_more_than_32_bits(self):
        high, low = add(times(wide(3 * 2**31), 2**33 + 5), wide(2**63 + 1))
        expected = (3 * 2**31 * (2**33 + 5) + 2**63 + 1) % 2**64
        self.assertEqual((int(high) << 32) + int(low), expected)


if __name__ == "__main__":
    unittest.main(verbosity=0)

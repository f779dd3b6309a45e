"""Compares words, thresholds and masks with known answers.

In packages/graph: python -m src.formats.torch.python.test_philox [VECTORS], a folder with Philox vectors.
"""

import json
import sys
import unittest
from pathlib import Path

import torch

from .philox import Dropout, _f32, philox4x32

VECTORS = Path(sys.argv.pop()) if len(sys.argv) > 1 else Path(__file__).parents[6] / "fixtures" / "philox"


def load(name):
    return json.loads((VECTORS / f"{name}.json").read_text())


def packed(mask):
    bits = mask.flatten().to(torch.int64)
    bits = torch.cat([bits, bits.new_zeros(-len(bits) % 8)]).view(-1, 8)
    return bytes((bits << torch.arange(8)).sum(-1).tolist()).hex()


def mask_of(dropout, B, H, Sq, Skv, *, rows=slice(None), j0=0, count=None):
    b = torch.arange(B).view(-1, 1, 1, 1)
    h = torch.arange(H).view(1, -1, 1, 1)
    i = torch.arange(Sq)[rows].view(1, 1, -1, 1)
    return dropout.keep_scores(b, h, i, j0, Skv - j0 if count is None else count, (H, Sq, Skv))


SCHEMES = {
    "torch-efficient": ("mem_eff_dropout_vectors", "cases"),
    "flash-attention-2": ("fa2_dropout_vectors", "cases"),
    "onednn": ("onednn_philox_vectors", "masks"),
}


class Philox(unittest.TestCase):
    def test_known_answers(self):
        vectors = [v for v in load("philox_kat")["vectors"] if v["alg"] == "philox4x32"]
        self.assertGreater(len(vectors), 60)
        for v in vectors:
            words = [[int(x, 16) for x in v[name]] for name in ("counter", "key", "out")]
            counter = [torch.tensor([x]) for x in words[0]]
            self.assertEqual([int(x) for x in philox4x32(counter, words[1], v["rounds"])], words[2])
            self.assertEqual(list(philox4x32(words[0], words[1], v["rounds"])), words[2])

    def test_raw_words_of_onednn(self):
        for v in load("onednn_philox_vectors")["raw64"]:
            index, seed, offset, out = (int(v[name], 16) for name in ("idx", "seed", "offset", "out"))
            if index < 2**63:
                words = Dropout(0.5, seed, offset).words(torch.tensor([index]), 1)
                self.assertEqual(int(words), out)

    def test_masks(self):
        for scheme, (name, list_name) in SCHEMES.items():
            for v in load(name)[list_name]:
                dropout = Dropout(v["p"], int(v["seed"], 16), int(v["offset"], 16), scheme)
                mask = mask_of(dropout, v["B"], v["H"], v["M"], v["N"])
                self.assertEqual(packed(mask), v["mask_hex"], (scheme, v["p"]))

    def test_thresholds_and_factors(self):
        for v in load("mem_eff_dropout_vectors")["thresholds"]:
            dropout = Dropout(v["p"], 0, 0, "torch-efficient")
            self.assertEqual(dropout.threshold, int(v["keep_if_x_ge"], 16))
            bits = v.get("scale_f32_bits 1/(1-p)")
            if bits:
                factor = torch.tensor(dropout.factor, dtype=torch.float32).view(torch.int32)
                self.assertEqual(int(factor) & 0xFFFFFFFF, int(bits, 16))
        for v in load("fa2_dropout_vectors")["thresholds"]:
            if _f32(v["p"]) < 1:
                self.assertEqual(Dropout(v["p"], 0, 0, "flash-attention-2").threshold, v["p_keep_u8"] + 1)
        for v in load("onednn_philox_vectors")["masks"]:
            self.assertEqual(Dropout(v["p"], 0).threshold, int(v["threshold"], 16) + 1)

    def test_parts_are_those_of_the_whole(self):
        for scheme in SCHEMES:
            for keys in (64, 57, 30):
                for offset in (0, 1, 7, 2**34 + 2, 2**64 - 13):
                    dropout = Dropout(0.3, 2**63 + 5, offset, scheme)
                    whole = mask_of(dropout, 2, 3, 21, keys)
                    part = mask_of(dropout, 2, 3, 21, keys, rows=slice(5, 18, 3), j0=11, count=13)
                    self.assertTrue(torch.equal(part, whole[:, :, 5:18:3, 11:24]), (scheme, keys, offset))

    def test_positions_wrap_at_two_to_the_64(self):
        around = Dropout(0.5, 6, 2**64 - 13, "torch-efficient").words(torch.tensor([0]), 40)
        start = Dropout(0.5, 6, 0, "torch-efficient").words(torch.tensor([0]), 27)
        self.assertTrue(torch.equal(around[0, 13:], start[0]))


if __name__ == "__main__":
    unittest.main(verbosity=0)

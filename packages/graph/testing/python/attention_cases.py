"""Cases of attention, and dense attention in float64, with which the attention of every export is compared.

The programs of a case are written for `xp`, which is torch or jax.numpy. A case is a dict: `call` has the
fields of `Attention`; `captures` names the tensors that its programs read; `queries` and `keys` are fractions
of the length; `Hq`, `Hk`, `Hv`, `Dv` and `length` replace the defaults; `scheme` draws dropout, and `keep`
uses a given mask; `lengths`, `sink` and `dlse` add these operands.
"""

import math

import numpy as np

B, D = 2, 8
SEED = 2**40 + 7
# p, seed and offset; as FlashAttention's may be, the offset is not a multiple of 4.
DROPOUT = (0.3, SEED, 5)
KEEP_FACTOR = 1.25
# Replaces -inf when results are compared.
UNSEEN = -1e4
TOLERANCE = 5e-6


def cases(xp):
    """The cases by name, whose programs compute with `xp`."""

    def softcapped(s, tile, captures):
        return 5 * xp.tanh(s / 5)

    def biased(s, tile, captures):
        return s + tile.part(captures[0])

    def alibi(s, tile, captures):
        return s - captures[0].reshape(1, -1, 1, 1) * abs(tile.i - tile.j)

    def two_captures(s, tile, captures):
        return s * tile.part(captures[0]) + captures[1][tile.entry, (tile.i - tile.j).clip(0, 6)]

    def same_document(tile, captures):
        documents = captures[-1]
        return documents[tile.entry, tile.i] == documents[tile.entry, tile.j]

    def not_row_three(tile, captures):
        return tile.i != 3

    causal = {"right": 0}
    bottom_right = {"right": 0, "bottom_right": True}
    program = {"score": two_captures}
    return {
        "full": {},
        "causal": {"call": causal},
        "causal with a scale": {"call": {"right": 0, "scale": 0.3}},
        "window": {"call": {"left": 5, "right": 2}},
        "left window": {"call": {"left": 3}},
        "cross": {"queries": 2 / 3, "call": causal},
        "cross, bottom right": {"queries": 2 / 3, "call": bottom_right},
        "more queries than keys": {"keys": 2 / 3, "call": bottom_right},
        "alibi": {"call": {"right": 0, "score": alibi}, "captures": ["slopes"]},
        "softcap": {"call": {"score": softcapped}},
        "row bias": {"call": {"score": biased}, "captures": ["row bias"]},
        "column bias": {"call": {"score": biased, "right": 0}, "captures": ["column bias"]},
        "score program": {"call": program, "captures": ["row bias", "table"]},
        "lengths": {"lengths": True, "call": causal},
        "lengths, bottom right": {"lengths": True, "call": bottom_right},
        "documents": {"call": {"visible": same_document, "right": 0}, "captures": ["documents"]},
        "fully masked rows": {"call": {"visible": not_row_three}},
        "sink": {"sink": True, "call": causal},
        "gradient through lse": {"dlse": True, "call": causal},
        "dropout": {"scheme": "onednn", "call": causal},
        "dropout of PyTorch": {"scheme": "torch-efficient"},
        "dropout of FlashAttention-2": {"scheme": "flash-attention-2", "call": causal},
        "given mask": {"keep": True},
        "heads": {"Hq": 12, "Hk": 2, "Hv": 3, "Dv": 5, "call": causal},
        "tiny": {"length": 5, "call": causal},
        "all at once": {
            "Hq": 6,
            "Hk": 2,
            "Hv": 3,
            "Dv": 5,
            "scheme": "onednn",
            "lengths": True,
            "sink": True,
            "dlse": True,
            "call": {**program, "visible": same_document, "left": 9, "right": 1},
            "captures": ["row bias", "table", "documents"],
        },
    }


def operands_of(case, length):
    """Random operands of a case, and the gradients of its results, in float64; None for operands that the
    case lacks.
    """
    random = np.random.default_rng(3)
    S = case.get("length", length)
    Sq, Skv = (int(case.get(name, 1) * S) for name in ("queries", "keys"))
    Hq, Hk, Dv = case.get("Hq", 4), case.get("Hk", 2), case.get("Dv", D)
    Hv = case.get("Hv", Hk)
    longest = max(Sq, Skv)

    def normal(*shape):
        return random.standard_normal(shape)

    captures = {
        "slopes": np.linspace(0.1, 0.4, Hq),
        "row bias": normal(1, Hq, Sq, 1),
        "column bias": normal(B, 1, 1, Skv),
        "table": normal(B, 7),
        "documents": np.tile(np.arange(longest, dtype=np.int32) * 3 // longest, (B, 1)),
    }
    has_lengths = case.get("lengths", False)
    return {
        "q": normal(B, Hq, Sq, D),
        "k": normal(B, Hk, Skv, D),
        "v": normal(B, Hv, Skv, Dv),
        "sink": normal(Hq) if case.get("sink") else None,
        "captures": [captures[name] for name in case.get("captures", [])],
        "lengths_q": np.array([Sq, Sq - 4], np.int32) if has_lengths else None,
        "lengths_kv": np.array([Skv - 3, Skv - 1], np.int32) if has_lengths else None,
        "keep": random.random((B, Hq, Sq, Skv)) < 0.8 if case.get("keep") else None,
        "dO": normal(B, Hq, Sq, Dv),
        "dlse": normal(B, Hq, Sq) if case.get("dlse") else None,
    }


def is_trained(x):
    """Whether a tensor of either library has floats, and therefore a gradient."""
    return x is not None and "float" in str(x.dtype)


def dense(xp, call, given, tile, factors=None):
    """o and lse by the formulas, with all scores in memory; lse is UNSEEN for rows that see no key.

    given: the operands as arrays of `xp`; tile: all scores as one tile; factors: the factors of
    probabilities.
    """
    q, k, v, sink = (given[name] for name in ("q", "k", "v", "sink"))
    (_, Hq, Sq, _), Skv = q.shape, k.shape[2]
    head = np.arange(Hq)
    scale = D**-0.5 if call.scale is None else call.scale
    s = scale * q @ k[:, head * k.shape[1] // Hq].mT
    s = s if call.score is None else call.score(s, tile, given["captures"])
    i, j = tile.i, tile.j
    ends, rows = (
        extent if given[name] is None else given[name].reshape(-1, 1, 1, 1)
        for name, extent in (("lengths_kv", Skv), ("lengths_q", Sq))
    )
    diagonal = ends - rows if call.bottom_right else 0
    seen = (j < ends) & (i < rows)
    if call.right is not None:
        seen = seen & (j <= i + diagonal + call.right)
    if call.left is not None:
        seen = seen & (j >= i + diagonal - call.left)
    if call.visible is not None:
        seen = seen & call.visible(tile, given["captures"])
    # Scores of masked keys are set to 0 first, because the gradient of elements that `where` discards must
    # not be infinite.
    e = xp.where(seen, xp.exp(xp.where(seen, s, 0.0)), 0.0)
    total = e.sum(-1) if sink is None else e.sum(-1) + xp.exp(sink).reshape(1, -1, 1)
    is_dead = total == 0
    total = xp.where(is_dead, 1.0, total)
    p = e / total[..., None]
    p = p if factors is None else p * factors
    return p @ v[:, head * v.shape[1] // Hq], xp.where(is_dead, UNSEEN, xp.log(total))


def largest_error(results, expected):
    """The error relative to the largest number of a tensor, or to 1 if that is larger. NaN is an infinite error,
    because max() would drop it.
    """
    pairs = list(zip(results, expected, strict=True))
    errors = [float(abs(x - y).max()) / max(1.0, float(abs(y).max())) for x, y in pairs]
    return max(float("inf") if math.isnan(error) else error for error in errors)

"""small: a Tilewise graph as a PyTorch module. Tensor n of the graph is called tn."""

import torch

from .attention import Attention, attention
from .module import GraphModule
from .philox import Dropout

# The global extents, over all ranks.
EXTENTS = {"batch": 2, "sequence": 6}
# The dtype and the axes of each input. An axis is a tuple of factors.
INPUTS = {
    "t0": ("f32", (("batch", "sequence",), (4,))),
    "seed": ("i64", ()),
    "t19": ("f32", (("batch", "sequence",), (4,))),
}
# The axes of each result. True means that each rank has a share, and the result is the sum of the shares.
OUTPUTS = {
    "loss": ((), True),
    "t12": ((("batch",), (2,), ("sequence",), (1,)), False),
}
PARAMETERS = {}
CONSTANTS = []


ATTENTION_12 = Attention(scale=0.5, right=0)


class Model(GraphModule):
    def __init__(self):
        super().__init__(PARAMETERS, CONSTANTS, __file__)

    def forward(self, place, *, t0, seed, t19):
        b = place.batch
        s = place.sequence
        q = t0.reshape(b, s, 2, 2).permute(0, 2, 1, 3)  # attention
        k = t0.reshape(b, s, 2, 2).permute(0, 2, 1, 3)
        v = t0.reshape(b, s, 2, 2).permute(0, 2, 1, 3)
        x1, x2 = attention(
            ATTENTION_12,
            q,
            k,
            v,
            dropout=Dropout(0.25, int(seed), 3),
            **place.attention(sequence=True, batch=True),
        )
        t12 = torch.where(x2 < -3e38, 0.0, x2).reshape(b, 2, s, 1)
        x3 = x1.permute(0, 2, 1, 3)
        t18 = x3.reshape(b * s, 4)
        t20 = t18 * t19  # Multiply
        t21 = t20.sum((0, 1))  # ReduceSum
        return {
            "loss": t21,
            "t12": t12,
        }

"""small: a Tilewise graph as a JAX function. Tensor n of the graph is called tn."""

import jax.numpy as jnp

from .attention import Attention, attention
from .philox import Dropout

# The global extents, over all ranks.
EXTENTS = {"batch": 2, "sequence": 16}
# The dtype and the axes of each input. An axis is a tuple of factors.
INPUTS = {
    "t0": ("f32", (("batch", "sequence",), (8,))),
}
# The axes of each result. True means that each rank has a share, and the result is the sum of the shares.
OUTPUTS = {
    "loss": ((), True),
    "t14": ((("batch",), (2,), ("sequence",), (1,)), False),
}
PARAMETERS = {
    "w": ((8, 8), jnp.float32),
}
CONSTANTS = []


ATTENTION_13 = Attention(scale=0.5, right=0)


def forward(place, parameters, *, t0):
    b = place.batch
    s = place.sequence
    t2 = t0 @ parameters["w"]  # MatMul
    q = t2.reshape(b, s, 2, 4).transpose(0, 2, 1, 3)  # attention
    k = t2.reshape(b, s, 2, 4).transpose(0, 2, 1, 3)
    v = t2.reshape(b, s, 2, 4).transpose(0, 2, 1, 3)
    x1, x2 = attention(
        ATTENTION_13,
        q,
        k,
        v,
        dropout=Dropout(0.25, 1099511627783, 3),
        **place.attention(sequence=True, batch=True),
    )
    t14 = jnp.where(x2 < -3e38, 0.0, x2).reshape(b, 2, s, 1)
    x3 = x1.transpose(0, 2, 1, 3)
    t20 = x3.reshape(b * s, 8)
    t23 = jnp.where(place.keep(Dropout(0.5, 5, 1), (("batch", "sequence",), (8,))), t20 / 0.5, 0.0)  # Dropout
    t24 = t23 * t23  # Square
    t25 = t24.sum((0, 1)) / 256.0  # ReduceMean
    return {
        "loss": t25,
        "t14": t14,
    }

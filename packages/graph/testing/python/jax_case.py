"""Runs a case of run_cases.py that was exported to JAX."""

import jax
import jax.numpy as jnp
import numpy as np

DTYPES = {"f32": np.float32, "f16": np.float16, "bf16": jnp.bfloat16, "bool": np.bool_}


def run(model, parallel, inputs, by, seed):
    """All results of a model, and the gradients of the first result with respect to inputs, with `seed` as
    its gradient.
    """
    tensors, scalars = {}, {}
    for name, x in inputs.items():
        if not isinstance(x, tuple):
            tensors[name] = x
        elif x[0] == "i64":
            tensors[name] = parallel.argument(int(x[1]))
        else:
            # Scalars of other dtypes must be known when the model is compiled.
            scalars[name] = DTYPES.get(x[0], np.int32)(float(x[1]))
    own = {name: tensors.pop(name) for name in by}
    place = parallel.Place(model.EXTENTS)

    def forward(own, rest):
        return list(model.forward(place, {}, **own, **rest, **scalars).values())

    def with_gradients(own, rest):
        results, differentiate = jax.vjp(lambda own: forward(own, rest), own)
        return results, differentiate([seed if n == 0 else zero(x) for n, x in enumerate(results)])[0]

    if not by:
        return jax.jit(forward)(own, tensors), []
    results, found = jax.jit(with_gradients)(own, tensors)
    return results, [found[name] for name in by]


def zero(x):
    """A zero gradient of a result."""
    if jnp.issubdtype(x.dtype, jnp.floating):
        return jnp.zeros(x.shape, x.dtype)
    return np.zeros(x.shape, jax.dtypes.float0)


def to_numpy(x):
    return np.asarray(x).astype(np.float64)

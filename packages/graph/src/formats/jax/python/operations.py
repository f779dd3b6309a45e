"""Operations that JAX does not have, or defines differently in edge cases."""

import jax
import jax.numpy as jnp
from jax import lax


def saturated(x, dtype):
    """x in another dtype, saturated. Floats become integers by rounding to nearest even."""
    if jnp.issubdtype(dtype, jnp.floating):
        largest = float(jnp.finfo(dtype).max)
        return jnp.clip(x, -largest, largest).astype(dtype)
    limits = jnp.iinfo(dtype)
    if jnp.issubdtype(x.dtype, jnp.integer):
        own = jnp.iinfo(x.dtype)
        return jnp.clip(x, max(limits.min, own.min), min(limits.max, own.max)).astype(dtype)
    # The largest integer of 32 bits is not an f32, so this uses the next smaller f32.
    high = float(limits.max if limits.bits < 32 else limits.max - (limits.max >> 24))
    rounded = jnp.round(jnp.nan_to_num(x, posinf=jnp.inf, neginf=-jnp.inf))
    narrow = jnp.clip(rounded, float(limits.min), high).astype(dtype)
    return jnp.where(rounded > high, jnp.asarray(limits.max, dtype), narrow)


def absolute(x):
    """|x|, whose gradient at 0 is 0."""
    return x * lax.stop_gradient(jnp.sign(x))


def take(x, *index):
    """x at the given indices of its first dimensions, which broadcast.

    Each index is clamped to its range. An element that was read with an index out of range gets no gradient.
    """
    index = [jnp.asarray(i).astype(jnp.int32) for i in index]
    values = x[tuple(jnp.clip(i, 0, n - 1) for i, n in zip(index, x.shape))]
    inside = jnp.ones((), bool)
    for i, n in zip(index, x.shape):
        inside = inside & (i >= 0) & (i < n)
    inside = inside.reshape(inside.shape + (1,) * (values.ndim - inside.ndim))
    return jnp.where(inside, values, lax.stop_gradient(values))


def product(x, axes):
    """The product over axes, which are kept with extent 1."""
    return jnp.prod(x, axes, keepdims=True)


def softmax(x, axis, *, zero_rows):
    """Softmax, and max + ln Σ e^(x - max). For rows of only -inf both are NaN, or, with zero_rows, 0."""
    dead = (x == -jnp.inf).all(axis, keepdims=True)
    other = 0.0 if zero_rows else jnp.nan
    x = jnp.where(dead, 0.0, x)
    lse = jax.nn.logsumexp(x, axis=axis, keepdims=True)
    return jnp.where(dead, other, jax.nn.softmax(x, axis=axis)), jnp.where(dead, other, lse)


def rms_norm(x, gamma=None, *, axes, epsilon):
    """x / √(mean of x² + epsilon) over the last `axes` axes, times gamma."""
    over = tuple(range(-axes, 0))
    y = x * lax.rsqrt((x * x).mean(over, keepdims=True) + epsilon)
    return y if gamma is None else y * gamma


def layer_norm(x, gamma=None, beta=None, *, axes, epsilon):
    """(x - mean) / √(variance + epsilon) over the last `axes` axes, times gamma, plus beta."""
    y = rms_norm(x - x.mean(tuple(range(-axes, 0)), keepdims=True), gamma, axes=axes, epsilon=epsilon)
    return y if beta is None else y + beta


def rotary(x, cos, sin, *, interleaved, inverse):
    """Rotates pairs (a, b) of the last axis to (a·cos - b·sin, b·cos + a·sin), or back with `inverse`.

    Pairs are neighbours with `interleaved`, else elements i and i + n, where n is the last extent of the
    tables; elements from 2·n on are copied.
    """
    n = cos.shape[-1]
    rotated, rest = x[..., : 2 * n], x[..., 2 * n :]
    a, b = (rotated[..., 0::2], rotated[..., 1::2]) if interleaved else jnp.split(rotated, 2, -1)
    sin = -sin if inverse else sin
    pairs = a * cos - b * sin, b * cos + a * sin
    rotated = jnp.stack(pairs, -1).reshape(rotated.shape) if interleaved else jnp.concatenate(pairs, -1)
    return jnp.concatenate([rotated, rest], -1)


def least(x, y):
    """The smaller of a tensor and a tensor or number; if both are equal, each gets half of the gradient."""
    return jnp.minimum(x, y)


def greatest(x, y):
    """The larger of a tensor and a tensor or number; if both are equal, each gets half of the gradient."""
    return jnp.maximum(x, y)


def scatter_rows(indices, updates, rows):
    """The sums (rows, D) of the rows of `updates`: row v is the sum of those with index v. Indices out of
    range are ignored.
    """
    place = jnp.where((indices >= 0) & (indices < rows), indices, rows).reshape(-1)
    return jnp.zeros((rows, updates.shape[1]), updates.dtype).at[place].add(updates, mode="drop")


def tensor_scatter(x, update, first, axis):
    """x with `update` written along `axis`, starting at index first[b] for each b of the first dimension.
    Elements of `update` that would be outside are dropped.
    """
    count, extent = update.shape[axis], x.shape[axis]
    at = first.reshape(-1, *[1] * (x.ndim - 1)) + jnp.arange(count).reshape(
        [count if d == axis else 1 for d in range(x.ndim)]
    )
    at = jnp.broadcast_to(jnp.where((at >= 0) & (at < extent), at, extent), update.shape)
    index = list(jnp.indices(update.shape, sparse=True))
    index[axis] = at
    return x.at[tuple(index)].set(update, mode="drop")

"""Operations that PyTorch does not have, or defines differently in edge cases."""

import torch
import torch.nn.functional as F


def saturated(x, dtype):
    """x in another dtype, saturated. Floats become integers by rounding to nearest even."""
    if dtype.is_floating_point:
        return x.clamp(-torch.finfo(dtype).max, torch.finfo(dtype).max).to(dtype)
    # The elements of a u32 tensor are int64.
    limits = torch.iinfo(torch.uint32 if dtype == torch.int64 else dtype)
    if not x.dtype.is_floating_point:
        return x.long().clamp(limits.min, limits.max).to(dtype)
    # The largest integer of 32 bits is not an f32, so this uses the next smaller f32.
    is_exact = limits.bits < 32 or x.dtype == torch.float64
    high = limits.max if is_exact else limits.max - (limits.max >> 24)
    rounded = x.nan_to_num(0.0).round()
    return torch.where(rounded > high, limits.max, rounded.clamp(limits.min, high).to(dtype)).to(dtype)


def take(x, *index):
    """x at the given indices of its first dimensions, which broadcast.

    Each index is clamped to its range. An element that was read with an index out of range gets no gradient.
    """
    index = [torch.as_tensor(i, device=x.device).long() for i in index]
    near = [i.clamp(0, n - 1) for i, n in zip(index, x.shape)]
    values = x[tuple(near)]
    if not values.requires_grad:
        return values
    inside = torch.ones((), dtype=torch.bool, device=x.device)
    for i, n in zip(index, x.shape):
        inside = inside & (i >= 0) & (i < n)
    inside = inside.reshape(inside.shape + (1,) * (values.dim() - inside.dim()))
    return torch.where(inside, values, values.detach())


def product(x, axes):
    """The product over axes, which are kept with extent 1."""
    for axis in sorted(axes, reverse=True):
        x = x.prod(axis, keepdim=True)
    return x


def softmax(x, axis, *, zero_rows):
    """Softmax, and max + ln Σ e^(x - max). For rows of only -inf both are NaN, or, with zero_rows, 0."""
    dead = (x == -torch.inf).all(axis, keepdim=True)
    if not zero_rows:
        return torch.softmax(x, axis), torch.where(dead, torch.nan, x.logsumexp(axis, keepdim=True))
    x = x.masked_fill(dead, 0)
    return torch.softmax(x, axis).masked_fill(dead, 0), x.logsumexp(axis, keepdim=True).masked_fill(dead, 0)


def rms_norm(x, gamma=None, *, axes, epsilon):
    """x / √(mean of x² + epsilon) over the last `axes` axes, times gamma."""
    y = F.rms_norm(x, x.shape[-axes:], eps=epsilon)
    return y if gamma is None else y * gamma


def layer_norm(x, gamma=None, beta=None, *, axes, epsilon):
    """(x - mean) / √(variance + epsilon) over the last `axes` axes, times gamma, plus beta."""
    y = F.layer_norm(x, x.shape[-axes:], eps=epsilon)
    y = y if gamma is None else y * gamma
    return y if beta is None else y + beta


def rotary(x, cos, sin, *, interleaved, inverse):
    """Rotates pairs (a, b) of the last axis to (a·cos - b·sin, b·cos + a·sin), or back with `inverse`.

    Pairs are neighbours with `interleaved`, else elements i and i + n, where n is the last extent of the
    tables; elements from 2·n on are copied.
    """
    n = cos.shape[-1]
    rotated, rest = x[..., : 2 * n], x[..., 2 * n :]
    a, b = (rotated[..., 0::2], rotated[..., 1::2]) if interleaved else rotated.chunk(2, -1)
    sin = -sin if inverse else sin
    pairs = a * cos - b * sin, b * cos + a * sin
    rotated = torch.stack(pairs, -1).flatten(-2) if interleaved else torch.cat(pairs, -1)
    return torch.cat([rotated, rest], -1)


def least(x, y):
    """The smaller of a tensor and a tensor or number; if both are equal, each gets half of the gradient."""
    return torch.minimum(x, y if isinstance(y, torch.Tensor) else x.new_tensor(y))


def greatest(x, y):
    """The larger of a tensor and a tensor or number; if both are equal, each gets half of the gradient."""
    return torch.maximum(x, y if isinstance(y, torch.Tensor) else x.new_tensor(y))


def scatter_rows(indices, updates, rows):
    """The sums (rows, D) of the rows of `updates`: row v is the sum of those with index v. Indices out of
    range are ignored.
    """
    inside = (indices >= 0) & (indices < rows)
    return updates.new_zeros(rows, updates.shape[1]).index_add(0, indices[inside].long(), updates[inside])


def tensor_scatter(x, update, first, axis):
    """x with `update` written along `axis`, starting at index first[b] for each b of the first dimension.
    Elements of `update` that would be outside are dropped.
    """
    count, extent = update.shape[axis], x.shape[axis]
    along = [count if d == axis else 1 for d in range(x.dim())]
    own = torch.arange(count, device=x.device).reshape(along)
    at = first.long().reshape(-1, *[1] * (x.dim() - 1)) + own
    # An extra index receives the elements that are outside.
    at = torch.where((at >= 0) & (at < extent), at, extent).expand(update.shape)
    padded = torch.cat([x, x.narrow(axis, 0, 1)], axis)
    return padded.scatter(axis, at, update).narrow(axis, 0, extent)

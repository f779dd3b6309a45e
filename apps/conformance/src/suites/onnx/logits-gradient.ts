import { Tensor } from '@tilewise/core';

/**
 * ∂ loss / ∂ logits of the mean cross-entropy over the labels that count; causal models predict the next
 * token.
 */
export function logitsGradient(logits: Tensor, labels: Tensor): Tensor {
  const values = logits.toFloat64();
  const classes = logits.shape.at(-1) ?? 1;
  const [B = 1, S = 1] = labels.shape.length === 2 ? labels.shape : [labels.shape[0], 1];
  const given = labels.toFloat64();
  const ids = labels.shape.length === 2 ? logits.shape[1] : 1;
  return Tensor.from(crossEntropyGradient(values, given, { B, S, classes, ids }), logits.shape);
}

function crossEntropyGradient(
  values: Float64Array,
  labels: Float64Array,
  { B, S, classes, ids }: { B: number; S: number; classes: number; ids: number },
): Float64Array {
  const gradient = new Float64Array(values.length);
  const count = labels.reduce((n, label) => (label >= 0 ? n + 1 : n), 0);
  for (let row = 0; row < B * ids; row++) {
    const label = labels[Math.floor(row / ids) * S + (row % ids)];
    if (!(label >= 0)) continue;
    const logits = values.subarray(row * classes, (row + 1) * classes);
    const most = logits.reduce((m, x) => Math.max(m, x), -Infinity);
    const sum = logits.reduce((total, x) => total + Math.exp(x - most), 0);
    for (let c = 0; c < classes; c++)
      gradient[row * classes + c] = (Math.exp(logits[c] - most) / sum - (c === label ? 1 : 0)) / count;
  }
  return gradient;
}

/** Shifts labels by one, because the logits of a token predict the token after it. */
export function shifted(labels: Tensor): Tensor {
  const [B, S] = labels.shape;
  const values = labels.toFloat64();
  const moved = Float64Array.from(values, (_, n) => (n % S === S - 1 ? -100 : values[n + 1]));
  return Tensor.from(moved, [B, S], { dtype: 'i32' });
}

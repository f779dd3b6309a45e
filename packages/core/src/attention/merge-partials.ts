import {
  checkObject,
  describeValue,
  InvalidArgumentError,
  InvalidDTypeError,
  InvalidShapeError,
} from '../errors.ts';
import { checkHostTensor } from '../tensor/checks/check-on-host.ts';
import { checkTensor, checkTensorOf } from '../tensor/checks/check-tensor.ts';
import { dtypeInfo } from '../tensor/dtype/dtype.ts';
import { elementCount, type Shape, sameShape } from '../tensor/shape.ts';
import { Tensor, type TensorDesc } from '../tensor/tensor.ts';

/**
 * Attention over some of the keys, normalised by its own softmax; `lse` is the natural log of that softmax's
 * sum.
 */
export interface PartialAttention<T = Tensor> {
  /** (B, Hq, Sq, Dv), or packed (T, Hq, Dv). */
  readonly o: T;
  /** f32 (B, Hq, Sq), or packed (Hq, T). */
  readonly lse: T;
}

/**
 * Attention over all keys from attention over disjoint parts of them:
 *
 *     lse = ln Σ_n e^lse_n          o = Σ_n e^(lse_n − lse) o_n
 *
 * The merge is associative and commutative up to rounding. A part that saw no key (lse = −∞) changes nothing,
 * whatever its o contains; a row for which no part saw a key has o = 0. Use it to merge splits along Skv, the
 * steps of ring attention, or prefix caches. Give a sink to one part only, otherwise the sink counts more
 * than once. Computed in f64; see the split-KV combination of FlashAttention ("Flash-Decoding", 2023).
 *
 * @param parts at least one, all of the same shapes.
 * @returns o in the dtype of the first part's o, lse in f32; both contiguous.
 * @throws InvalidArgumentError without parts, or for a part that is not on the host; InvalidShapeError or
 * InvalidDTypeError if the parts do not fit together.
 */
export function mergePartials(parts: readonly PartialAttention[]): PartialAttention {
  const first = checkPartials(parts);
  parts.forEach(({ o, lse }, n) => {
    checkHostTensor(`parts[${n}].o`, o);
    checkHostTensor(`parts[${n}].lse`, lse);
  });
  const { shape } = first.o;
  const Dv = shape[shape.length - 1];
  const rows = elementCount(first.lse.shape);
  const o = new Float64Array(rows * Dv);
  const lse = new Float64Array(rows);
  const os = parts.map(part => part.o.toFloat64());
  const lses = parts.map(part => part.lse.toFloat64());
  const oRow = rowOfO(shape);

  for (let r = 0; r < rows; r++) {
    const at = oRow(r) * Dv;
    lse[r] = logSumExp(lses.map(partial => partial[r]));
    for (const [n, partial] of os.entries()) {
      // The o of a part without keys may hold NaN, and 0 · NaN would not be 0.
      if (lses[n][r] === -Infinity) continue;
      const weight = Math.exp(lses[n][r] - lse[r]);
      for (let d = at; d < at + Dv; d++) o[d] += weight * partial[d];
    }
  }
  return {
    o: Tensor.from(o, shape, { dtype: first.o.dtype }),
    lse: Tensor.from(lse, first.lse.shape),
  };
}

/** ln Σ e^x without overflow; −∞ if every x is −∞. */
function logSumExp(values: readonly number[]): number {
  const max = Math.max(...values);
  if (max === -Infinity) return max;
  return max + Math.log(values.reduce((sum, x) => sum + Math.exp(x - max), 0));
}

/** Maps a row of lse to the row of o: the same index, or token and head exchanged when packed. */
function rowOfO(shape: Shape): (row: number) => number {
  if (shape.length === 4) return row => row;
  const [T, H] = shape;
  return row => (row % T) * H + Math.floor(row / T);
}

/**
 * Checks that parts fit together, whether their data is on the host or not.
 * @returns the first part.
 * @throws as `mergePartials`.
 */
export function checkPartials<T extends TensorDesc>(
  parts: readonly PartialAttention<T>[],
): PartialAttention<T> {
  if (!Array.isArray(parts))
    throw new InvalidArgumentError('parts', `must be an array of { o, lse }, got ${describeValue(parts)}`);
  const [first] = parts;
  if (parts.length === 0) throw new InvalidArgumentError('parts', 'must hold at least one part, got none');
  // Visits holes too, unlike `forEach`.
  for (const [n, part] of parts.entries()) checkPart(part, first, n);
  return first;
}

function checkPart(part: PartialAttention<TensorDesc>, first: PartialAttention<TensorDesc>, n: number): void {
  checkObject(`parts[${n}]`, part, ' of o and lse');
  checkTensor(`parts[${n}].o`, part.o);
  const { shape } = part.o;
  if (shape.length !== 3 && shape.length !== 4) {
    const rule = `must be (B, Hq, Sq, Dv) or packed (T, Hq, Dv), got [${shape}]`;
    throw new InvalidShapeError(`parts[${n}].o`, rule);
  }
  const rows = shape.length === 4 ? shape.slice(0, 3) : [shape[1], shape[0]];
  checkTensorOf(`parts[${n}].lse`, part.lse, rows, 'f32');
  // The types forbid a dtype without an entry, but a caller in JavaScript may pass one.
  if (dtypeInfo[part.o.dtype]?.kind !== 'float') {
    throw new InvalidDTypeError(`parts[${n}].o`, `must be a float dtype, got ${part.o.dtype}`);
  }
  if (!sameShape(shape, first.o.shape)) {
    const rule = `must have the shape of the first part ([${first.o.shape}]), got [${shape}]`;
    throw new InvalidShapeError(`parts[${n}].o`, rule);
  }
  if (part.o.dtype !== first.o.dtype) {
    const rule = `must be ${first.o.dtype}, the dtype of the first part, got ${part.o.dtype}`;
    throw new InvalidDTypeError(`parts[${n}].o`, rule);
  }
}

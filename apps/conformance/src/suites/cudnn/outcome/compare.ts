import type { Tensor } from '@tilewise/core';
import type { TensorError } from '../../attention/worst-error.ts';
import type { Concrete } from '../concrete/concrete.ts';
import { extent } from '../concrete/layouts.ts';
import type { Tolerance } from '../format/case-format.ts';
import { storedScale } from '../tensors/fp8.ts';
import { cumulative } from '../tensors/storage.ts';
import type { Expected } from './expected.ts';

/** The tensor whose layout and extent a result has. */
const shapedLike: Readonly<Record<string, 'q' | 'k' | 'v' | 'o'>> = { o: 'o', dq: 'q', dk: 'k', dv: 'v' };

/**
 * Compares a result, in any layout, with the expected values: |a − e| ≤ absolute + relative·|e|, an infinity
 * only where one is expected, and exactly 0 where nothing contributes: in rows that see no key, and for keys
 * that no query sees. Rows of a packed result that belong to no sequence are ignored. A result that is stored
 * with a scale is compared after dividing by the scale.
 */
export function compareResult(
  c: Concrete,
  name: string,
  actual: Tensor,
  expected: Expected,
  allowed: Tolerance,
): TensorError {
  const values = expected.forward[name] ?? expected.backward[name];
  const { lse } = expected.forward;
  const like = shapedLike[name];
  const compared: Compared = {
    ...{ name, got: actual.toFloat64(), expected: values, allowed },
    unit: storedScale(name, expected.fp8),
  };
  if (!like) {
    const isPerRow = name === 'lse' || name === 'max' || name === 'sumExp';
    const rows = isPerRow && actual.shape.length === 2 ? packedStatistics(c, actual) : [whole(values.length)];
    return worst(compared, rows, () => false);
  }
  const [H, S] = extent(like, c.dims);
  return worst(compared, operandRows(c, like), ({ b, h, s }) =>
    like === 'q' || like === 'o' ? lse[(b * H + h) * S + s] === -Infinity : expected.isUnseen(b, s),
  );
}

/** Adjacent elements of a result: their index in the result, and their index in the expected values. */
interface Row {
  readonly at: number;
  readonly index: number;
  readonly count: number;
  readonly b: number;
  readonly h: number;
  readonly s: number;
}

/** The values of a result, and what they are compared with. */
interface Compared {
  readonly name: string;
  readonly got: Float64Array;
  readonly expected: Float64Array;
  readonly allowed: Tolerance;
  /** The scale that the result is stored with. */
  readonly unit: number;
}

/** The element that is off the most. @param isZero whether nothing contributes to a row. */
function worst(
  { name: tensor, got, expected, allowed: [absolute, relative], unit }: Compared,
  rows: Iterable<Row>,
  isZero: (row: Row) => boolean,
): TensorError {
  let error: TensorError = { tensor, ratio: 0, text: 'is exact' };
  for (const row of rows) {
    const zero = isZero(row);
    for (let n = 0; n < row.count; n++) {
      const want = expected[row.index + n];
      const value = got[row.at + n] / unit;
      if (value === want) continue;
      const off = Math.abs(value - want);
      const limit = absolute + relative * Math.abs(want);
      const ratio = limit === 0 ? Infinity : off / limit;
      if (!zero && ratio <= error.ratio) continue;
      const where = `at [${[row.b, row.h, row.s]}] (element ${row.index + n})`;
      if (zero) {
        return { tensor, ratio: Infinity, text: `holds ${value} ${where}, where nothing contributes` };
      }
      if (!Number.isFinite(off)) {
        return { tensor, ratio: Infinity, text: `holds ${value} ${where}, where ${want} is expected` };
      }
      const text = `is off by ${off.toExponential(2)} ${where}, where ${limit.toExponential(2)} is allowed`;
      error = { tensor, ratio, text };
    }
  }
  return error;
}

/** The existing rows of a result that is laid out like an operand: (B, H, S, D), or (T, H, D) if packed. */
function* operandRows(c: Concrete, like: 'q' | 'k' | 'v' | 'o'): Generator<Row> {
  const { B } = c.dims;
  const [H, S, D] = extent(like, c.dims);
  const { packed } = c.layouts[like];
  const lengths = (like === 'q' || like === 'o' ? c.lengths.q : c.lengths.kv) ?? new Array<number>(B).fill(S);
  const starts = cumulative(lengths);
  for (let b = 0; b < B; b++) {
    for (let h = 0; h < H; h++) {
      for (let s = 0; s < (packed ? lengths[b] : S); s++) {
        const index = ((b * H + h) * S + s) * D;
        const at = packed ? ((starts[b] + s) * H + h) * D : index;
        yield { at, index, count: D, b, h, s };
      }
    }
  }
}

/** The statistics of packed results, (Hq, T). */
function* packedStatistics({ dims, lengths }: Concrete, { shape: [, T] }: Tensor): Generator<Row> {
  const { B, Hq, Sq } = dims;
  const each = lengths.q ?? new Array<number>(B).fill(Sq);
  const starts = cumulative(each);
  for (let b = 0; b < B; b++) {
    for (let h = 0; h < Hq; h++) {
      yield { at: h * T + starts[b], index: (b * Hq + h) * Sq, count: each[b], b, h, s: 0 };
    }
  }
}

function whole(count: number): Row {
  return { at: 0, index: 0, count, b: 0, h: 0, s: 0 };
}

import { dtypeInfo, type Tensor } from '@tilewise/core';
import type { TensorError } from '../attention/worst-error.ts';
import type { Tolerance } from './case-format.ts';
import type { Concrete } from './concrete.ts';
import type { Expected } from './expected.ts';
import { storedScale } from './fp8.ts';
import { extent } from './layouts.ts';
import { cumulative } from './storage.ts';

/** The tensor whose layout and extent a result has. */
const shapedLike: Readonly<Record<string, 'q' | 'k' | 'v' | 'o'>> = { o: 'o', dq: 'q', dk: 'k', dv: 'v' };

/**
 * Compares a result, wherever its rows lie, with what is expected: |a − e| ≤ absolute + relative·|e|, an infinity only where one
 * is expected, and exactly 0 where nothing contributes: in rows that see no key, and for keys that nobody sees. The rows of a
 * packed result that belong to no sequence are not looked at. A result that is stored by a scale is compared without it.
 */
export function compareResult(
  c: Concrete,
  name: string,
  actual: Tensor,
  expected: Expected,
  allowed: Tolerance,
): TensorError {
  const values = expected.forward[name] ?? expected.backward[name];
  const unit = storedScale(name, expected.fp8);
  const { lse } = expected.forward;
  const like = shapedLike[name];
  if (!like) {
    const rows = name === 'lse' || name === 'max' || name === 'sumExp';
    const places = rows && actual.shape.length === 2 ? packedRows(c, actual) : plainPlaces(actual);
    return worst(name, places, actual, values, unit, allowed, () => false);
  }
  const [H, S] = extent(like, c.dims);
  const isZero = (b: number, h: number, s: number): boolean =>
    like === 'q' || like === 'o' ? lse[(b * H + h) * S + s] === -Infinity : expected.isUnseen(b, s);
  return worst(name, operandPlaces(c, like, actual), actual, values, unit, allowed, isZero);
}

/** An element of a result: its offset in the storage, its index among the expected values, and its row. */
type Place = readonly [at: number, index: number, b: number, h: number, s: number];

function worst(
  tensor: string,
  places: Iterable<Place>,
  { data, dtype }: Tensor,
  expected: Float64Array,
  unit: number,
  [absolute, relative]: Tolerance,
  isZero: (b: number, h: number, s: number) => boolean,
): TensorError {
  const { decode } = dtypeInfo[dtype];
  let error: TensorError = { tensor, ratio: 0, text: 'is exact' };
  for (const [at, index, b, h, s] of places) {
    const want = expected[index];
    const got = decode(data[at]) / unit;
    if (got === want) continue;
    const where = `at [${[b, h, s]}] (element ${index})`;
    if (isZero(b, h, s)) {
      return { tensor, ratio: Infinity, text: `holds ${got} ${where}, where nothing contributes` };
    }
    const off = Math.abs(got - want);
    if (!Number.isFinite(off)) {
      return { tensor, ratio: Infinity, text: `holds ${got} ${where}, where ${want} is expected` };
    }
    const limit = absolute + relative * Math.abs(want);
    const ratio = limit === 0 ? Infinity : off / limit;
    if (ratio > error.ratio) {
      error = {
        tensor,
        ratio,
        text: `is off by ${off.toExponential(2)} ${where}, where ${limit.toExponential(2)} is allowed`,
      };
    }
  }
  return error;
}

function* operandPlaces(c: Concrete, like: 'q' | 'k' | 'v' | 'o', actual: Tensor): Generator<Place> {
  const { B } = c.dims;
  const [H, S, D] = extent(like, c.dims);
  const { packed } = c.layouts[like];
  const lengths = (like === 'q' || like === 'o' ? c.lengths.q : c.lengths.kv) ?? new Array<number>(B).fill(S);
  const starts = cumulative(lengths);
  const { strides, offset } = actual;
  for (let b = 0; b < B; b++) {
    const rows = packed ? lengths[b] : S;
    for (let h = 0; h < H; h++) {
      for (let s = 0; s < rows; s++) {
        const at = packed
          ? offset + (starts[b] + s) * strides[0] + h * strides[1]
          : offset + b * strides[0] + h * strides[1] + s * strides[2];
        const from = ((b * H + h) * S + s) * D;
        const channel = strides[packed ? 2 : 3];
        for (let d = 0; d < D; d++) yield [at + d * channel, from + d, b, h, s];
      }
    }
  }
}

/** Of (Hq, T). */
function* packedRows({ dims, lengths }: Concrete, actual: Tensor): Generator<Place> {
  const { B, Hq, Sq } = dims;
  const each = lengths.q ?? new Array<number>(B).fill(Sq);
  const starts = cumulative(each);
  const [headStride, tokenStride] = actual.strides;
  for (let b = 0; b < B; b++) {
    for (let h = 0; h < Hq; h++) {
      for (let s = 0; s < each[b]; s++) {
        const at = actual.offset + h * headStride + (starts[b] + s) * tokenStride;
        yield [at, (b * Hq + h) * Sq + s, b, h, s];
      }
    }
  }
}

function* plainPlaces(actual: Tensor): Generator<Place> {
  let index = 0;
  for (const at of actual.offsets()) {
    yield [at, index, 0, 0, index];
    index++;
  }
}

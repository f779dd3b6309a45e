import {
  checkObject,
  describeValue,
  InvalidArgumentError,
  InvalidDTypeError,
  InvalidShapeError,
  isContiguous,
  sameShape,
  type TensorDesc,
} from '@tilewise/core';
import type { D256Options, D256Tensors } from './call.ts';

type Samples = D256Tensors<TensorDesc> & Partial<Record<'dq' | 'dk' | 'dv', TensorDesc>>;

/** For each tensor, the operand whose dimensions it must have. */
const likes = { o: 'q', dO: 'q', dq: 'q', dk: 'k', dv: 'v' } as const;

/** The only head size that cuDNN's wrapper supports. */
export const HEAD_SIZE = 256;

/** The dimensions: (B, H, S, D), or (T, H, D) for a packed tensor, without its optional leading 1. */
export function dimensionsOf({ shape }: TensorDesc, isPacked: boolean): readonly number[] {
  return isPacked && shape.length === 4 ? shape.slice(1) : shape;
}

/**
 * Checks tensors and options without reading tensors, in the order of cuDNN's documentation.
 * @throws InvalidShapeError, InvalidDTypeError or InvalidArgumentError naming the argument.
 */
export function checkD256(samples: Samples, options: D256Options): void {
  checkObject('tensors', samples);
  checkObject('options', options);
  for (const name of ['q', 'k', 'v', 'o', 'dO', 'lse'] as const)
    if (!Array.isArray(samples[name]?.shape))
      throw new InvalidArgumentError(name, `must be a tensor, got ${describeValue(samples[name])}`);
  const { q, k, v, lse, cumSeqlenQ, cumSeqlenK } = samples;
  if ((cumSeqlenQ === undefined) !== (cumSeqlenK === undefined)) {
    const missing = cumSeqlenQ ? 'cumSeqlenK' : 'cumSeqlenQ';
    throw new InvalidArgumentError(
      missing,
      'must be given too: packed tensors (T, H, D) need both cumulative lengths',
    );
  }
  const isPacked = cumSeqlenQ !== undefined;
  for (const name of ['q', 'k', 'v', 'o', 'dO', 'dq', 'dk', 'dv'] as const) {
    const t = samples[name];
    if (t) checkOperand(name, t, isPacked, q.dtype);
  }
  const [dq, dk, dv] = [q, k, v].map(t => dimensionsOf(t, isPacked));
  const [Hq, Hk] = [dq[1], dk[1]];
  if (Hq % Hk !== 0)
    throw new InvalidShapeError('k', `must have a number of heads that divides the ${Hq} of q, got ${Hk}`);
  checkDimensions('v', dv, dk);
  for (const [name, operand] of Object.entries(likes)) {
    const t = samples[name as keyof typeof likes];
    if (t) checkDimensions(name, dimensionsOf(t, isPacked), dimensionsOf(samples[operand], isPacked));
  }
  checkLse(lse, dq, isPacked);
  if (cumSeqlenQ && cumSeqlenK) checkCumulative(cumSeqlenQ, cumSeqlenK);
  checkOptions(options);
}

function checkOperand(name: string, t: TensorDesc, isPacked: boolean, dtype: TensorDesc['dtype']): void {
  const { shape } = t;
  const isRight = isPacked
    ? shape.length === 3 || (shape.length === 4 && shape[0] === 1)
    : shape.length === 4;
  if (!isRight) {
    const expected = isPacked ? '(T, H, D) or (1, T, H, D) with cumulative lengths' : '(B, H, S, D)';
    throw new InvalidShapeError(name, `must be ${expected}, got [${shape}]`);
  }
  if (shape.at(-1) !== HEAD_SIZE)
    throw new InvalidShapeError(name, `must have a head size of ${HEAD_SIZE}, got [${shape}]`);
  if (t.dtype !== 'f16' && t.dtype !== 'bf16')
    throw new InvalidDTypeError(name, `must be f16 or bf16, got ${t.dtype}`);
  if (t.dtype !== dtype)
    throw new InvalidDTypeError(name, `must be ${dtype}, the dtype of q, got ${t.dtype}`);
}

function checkDimensions(name: string, own: readonly number[], expected: readonly number[]): void {
  if (!sameShape(own, expected))
    throw new InvalidShapeError(name, `must have the dimensions [${expected}], got [${own}]`);
}

/** lse must be contiguous (B, Hq, Sq), or for packed tensors (T, Hq) or (T, Hq, 1). */
function checkLse(lse: TensorDesc, q: readonly number[], isPacked: boolean): void {
  if (lse.dtype !== 'f32') throw new InvalidDTypeError('lse', `must be f32, got ${lse.dtype}`);
  const own = isPacked && lse.shape.length === 3 && lse.shape[2] === 1 ? lse.shape.slice(0, 2) : lse.shape;
  checkDimensions('lse', own, isPacked ? q.slice(0, 2) : q.slice(0, 3));
  if (!isContiguous(lse.shape, lse.strides))
    throw new InvalidShapeError('lse', `must be contiguous, got strides [${lse.strides}]`);
}

function checkCumulative(cumSeqlenQ: TensorDesc, cumSeqlenK: TensorDesc): void {
  for (const [name, t] of Object.entries({ cumSeqlenQ, cumSeqlenK })) {
    if (t.dtype !== 'i32') throw new InvalidDTypeError(name, `must be i32, got ${t.dtype}`);
    if (t.shape.length !== 1 || t.shape[0] < 1)
      throw new InvalidShapeError(name, `must be (B + 1), got [${t.shape}]`);
  }
  checkDimensions('cumSeqlenK', cumSeqlenK.shape, cumSeqlenQ.shape);
}

function checkOptions({ accDType, mmaTilerMn, dkdvMmaTilerMn, windowSize, scaleSoftmax }: D256Options): void {
  if (accDType !== undefined && accDType !== 'f32')
    throw new InvalidDTypeError('accDType', `must be f32, got ${String(accDType)}`);
  const tiles = { mmaTilerMn: [mmaTilerMn, '128,128'], dkdvMmaTilerMn: [dkdvMmaTilerMn, '128,64'] } as const;
  for (const [name, [given, only]] of Object.entries(tiles)) {
    if (given !== undefined && `${given}` !== only)
      throw new InvalidArgumentError(name, `must be [${only}], got [${given}]`);
  }
  if (windowSize?.some(n => !Number.isInteger(n) || n < -1))
    throw new InvalidArgumentError(
      'windowSize',
      `must hold integers ≥ 0, or −1 for all, got [${windowSize}]`,
    );
  checkScale(scaleSoftmax);
}

/**
 * Checks the scale, which must be finite in f32, like scores.
 * @throws InvalidArgumentError if the scale is not finite.
 */
export function checkScale(scaleSoftmax: D256Options['scaleSoftmax']): void {
  if (typeof scaleSoftmax === 'number' && !Number.isFinite(Math.fround(scaleSoftmax)))
    throw new InvalidArgumentError('scaleSoftmax', `must be finite, got ${scaleSoftmax}`);
}

/**
 * Checks the rules that depend on the lengths of sequences.
 * @param longest the longest sequences.
 * @throws InvalidArgumentError naming the argument.
 */
export function checkD256Lengths(
  { maxSQ, maxSK, windowSize = [-1, -1] }: D256Options,
  longest: { readonly q: number; readonly k: number },
): void {
  for (const [name, given, least] of [
    ['maxSQ', maxSQ, longest.q],
    ['maxSK', maxSK, longest.k],
  ] as const) {
    if (given !== undefined && !(Number.isInteger(given) && given >= least))
      throw new InvalidArgumentError(
        name,
        `must be at least ${least}, the length of the longest sequence, got ${given}`,
      );
  }
  const [left, right] = windowSize;
  for (const [side, given, least, length] of [
    ['left', left, 0, maxSK ?? longest.k],
    ['right', right, 1, maxSQ ?? longest.q],
  ] as const) {
    if (given >= least && given >= length - 1)
      throw new InvalidArgumentError(
        'windowSize',
        `must have a ${side} bound below ${length - 1}, or −1, got ${given}`,
      );
  }
}

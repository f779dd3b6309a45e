import type { Tensor } from '@tilewise/core';
import { type ErrorSize, errorOf, type RawTensor } from '@tilewise/test-data';

/** The error of a tensor. */
export interface TensorError {
  readonly tensor: string;
  /**
   * The error relative to the gate's limit, for the largest or the mean-square error, whichever is worse: 1
   * is the most that is allowed.
   */
  readonly ratio: number;
  /** The fault, as a sentence about the tensor. */
  readonly text: string;
}

/** Compares a result with the expected one, element by element. NaN anywhere is an infinite error. */
export function tensorError(
  tensor: string,
  actual: Tensor,
  expected: RawTensor,
  allowed: ErrorSize,
): TensorError {
  if (actual.shape.join() !== expected.shape.join()) {
    return infinite(tensor, `has shape [${actual.shape}] where [${expected.shape}] is expected`);
  }
  const values = actual.toFloat64();
  const error = errorOf(values, expected.data);
  if (!Number.isFinite(error.max)) return infinite(tensor, firstNonFinite(values, expected.data));
  const largest = error.max / allowed.max;
  const rms = error.rms / allowed.rms;
  const text =
    largest >= rms
      ? `is off by ${digits(error.max)}, where ${digits(allowed.max)} is allowed`
      : `has an RMS error of ${digits(error.rms)}, where ${digits(allowed.rms)} is allowed`;
  return { tensor, ratio: Math.max(largest, rms), text };
}

/** The tensor with the largest error. */
export function worstOf(errors: readonly TensorError[]): TensorError {
  return errors.reduce((worst, error) => (error.ratio > worst.ratio ? error : worst));
}

function infinite(tensor: string, text: string): TensorError {
  return { tensor, ratio: Infinity, text };
}

function firstNonFinite(actual: ArrayLike<number>, expected: ArrayLike<number>): string {
  for (let i = 0; i < expected.length; i++) {
    const equal = actual[i] === expected[i];
    if (!equal && !Number.isFinite(actual[i] - expected[i])) {
      return `holds ${actual[i]} at element ${i}, where ${expected[i]} is expected`;
    }
  }
  return 'holds a value that is not finite';
}

const digits = (x: number): string => x.toExponential(2);

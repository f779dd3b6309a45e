import type { DType } from '@tilewise/core';
import type { GridPoint } from '../grid.ts';

/** Readers of the values of a point. Each value must have the type that the group gives it. */

export function numberAt(values: GridPoint, name: string): number {
  const value = values[name];
  if (typeof value !== 'number')
    throw new Error(`the axis ${name} must be a number, got ${JSON.stringify(value)}`);
  return value;
}

export function numbersAt(values: GridPoint, name: string): readonly number[] {
  const value = values[name];
  if (!Array.isArray(value) || !value.every(n => typeof n === 'number')) {
    throw new Error(`the axis ${name} must be a list of numbers, got ${JSON.stringify(value)}`);
  }
  return value;
}

export function textAt(values: GridPoint, name: string): string {
  return String(values[name]);
}

const dtypes: readonly DType[] = ['f32', 'f16', 'bf16'];

/** A storage dtype; null for float64, which is not supported here. */
export function dtypeAt({ dtype: value }: GridPoint): DType | null {
  const dtype = dtypes.find(known => known === value);
  if (dtype) return dtype;
  if (value === 'f64') return null;
  throw new Error(`the axis dtype must be a dtype, got ${JSON.stringify(value)}`);
}

/** `null` for the default, a number, or `1/D`. */
export function scaleAt(values: GridPoint, D: number): { readonly scale?: number } {
  const { scale } = values;
  if (scale === null || scale === undefined) return {};
  if (scale === '1/D') return { scale: 1 / D };
  return { scale: numberAt(values, 'scale') };
}

/** Dropout from a fixed seed; none for p = 0. */
export function dropoutAt(values: GridPoint): {
  readonly dropout?: { p: number; seed: number; offset: number };
} {
  const p = numberAt(values, 'dropoutP');
  return p === 0 ? {} : { dropout: { p, seed: 42, offset: 0 } };
}

import { contiguousStrides, fp8ScalarNames, Tensor, type TensorDesc } from '@tilewise/core';
import { fp8AmaxNames, type HostArray } from '@tilewise/core/engine';
import { constant, eq, type NumericExpr, select } from '@tilewise/core/expr';
import { coordinate, input, inputAt } from '@tilewise/core/primitive';
import type { PrimitiveStep } from '../../ir/program/program.ts';

/**
 * The entries of the f32 list: the FP8 scalars that kernels read, then the amax values that kernels write.
 */
const places: readonly string[] = [...fp8ScalarNames, ...fp8AmaxNames];

/** The description of the list. */
const fp8List: TensorDesc = {
  dtype: 'f32',
  shape: [places.length],
  strides: contiguousStrides([places.length]),
};

/**
 * The number of scalars that one map writes. With the old list and the new list, a map binds eight tensors.
 */
const AT_ONCE = 6;

/**
 * Writes the list from scalars, which are tensors of shape (1). Missing scalars are 1.
 * @param scalars the names and values of the scalars.
 * @param temporary creates a temporary value.
 * @returns the steps, and the value of the list.
 */
export function writeFp8List(
  scalars: readonly (readonly [name: string, value: number])[],
  temporary: (desc: TensorDesc) => number,
): { readonly steps: readonly PrimitiveStep[]; readonly list: number } {
  const steps: PrimitiveStep[] = [];
  let list: number | undefined;
  for (let first = 0; list === undefined || first < scalars.length; first += AT_ONCE) {
    const some = scalars.slice(first, first + AT_ONCE);
    const others: NumericExpr = list === undefined ? constant(1) : input(some.length);
    const value = some.reduce<NumericExpr>(
      (rest, [name], n) => select(eq(coordinate(0), places.indexOf(name)), input(n), rest),
      others,
    );
    const inputs = [...some.map(([, scalar]) => scalar), ...(list === undefined ? [] : [list])];
    list = temporary(fp8List);
    steps.push({ kind: 'primitive', primitive: { kind: 'map', value }, inputs, outputs: [list] });
  }
  return { steps, list };
}

/** Copies an amax value from the list to a tensor of shape (1). */
export function readFp8List(list: number, name: string, to: number): PrimitiveStep {
  const value = inputAt(0, [constant(places.indexOf(name), 'i32')]);
  return { kind: 'primitive', primitive: { kind: 'map', value }, inputs: [list], outputs: [to] };
}

/** The list of scalars that the host knows. */
export function fp8ListOf(scalars: Readonly<Record<string, HostArray>>): Tensor {
  const numbers = places.map(name => scalars[name]?.data[0] ?? 1);
  return Tensor.from(numbers, fp8List.shape);
}

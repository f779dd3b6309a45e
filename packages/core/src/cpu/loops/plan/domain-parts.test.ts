import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { add, and, eq, floorDiv, ge, lt, mod, mul, not, or, select, sub } from '../../../expr/index.ts';
import type { NumericExpr } from '../../../expr/nodes/expr.ts';
import { coordinate, hostPrimitives, input, inputAt } from '../../../primitive/index.ts';
import { Tensor } from '../../../tensor/tensor.ts';
import { supportedVariants } from '../../kernels/host-kernels.ts';
import { cpuPrimitives } from '../../primitives/cpu-primitives.ts';
import { domainParts } from './domain-parts.ts';

const inOrder = (shape: readonly number[]): Tensor =>
  Tensor.from(
    Array.from({ length: shape.reduce((n, extent) => n * extent, 1) }, (_, n) => n + 1),
    shape,
  );

/** The results of the host, and of the loops of a variant. */
function both(
  variant: Parameters<typeof cpuPrimitives>[0],
  value: NumericExpr,
  inputs: readonly Tensor[],
  shape: readonly number[],
): number[][] {
  return [hostPrimitives, cpuPrimitives(variant)].map(primitives => {
    const output = Tensor.zeros(shape);
    primitives.prepare({ kind: 'map', value }, inputs, [output]).run(inputs, [output]);
    return [...output.toFloat32()];
  });
}

const at = (axis: number, index: NumericExpr): NumericExpr[] =>
  [0, 1, 2].map(d => (d === axis ? index : coordinate(d)));

describe.each(supportedVariants())('%s', variant => {
  test('tensors concatenated along any axis, and parts of tensors added at their positions', () => {
    const extents = fc.tuple(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 1, max: 9 }));
    fc.assert(
      fc.property(extents, fc.nat(2), fc.nat(4), fc.boolean(), ([a, b], axis, before, isTransposed) => {
        const shapeOf = (n: number) => [3, 2, 5].map((extent, d) => (d === axis ? n : extent));
        const first = inOrder(shapeOf(a));
        const second = isTransposed
          ? inOrder([...shapeOf(b)].reverse()).permute(2, 1, 0)
          : inOrder(shapeOf(b));
        const c = coordinate(axis);
        const joined = select(lt(c, a), inputAt(0, at(axis, c)), inputAt(1, at(axis, sub(c, a))));
        const [want, got] = both(variant, joined, [first, second], shapeOf(a + b));
        expect(got).toEqual(want);

        const distance = sub(c, before);
        const index = floorDiv(distance, 1);
        const isTaken = and(ge(index, 0), lt(index, a), eq(mod(distance, 1), 0));
        const placed = select(isTaken, inputAt(0, at(axis, index)), 0);
        const [sum, own] = both(variant, add(placed, input(1)), [first, second], shapeOf(b));
        expect(own).toEqual(sum);
      }),
    );
  });

  test('coordinates, and broadcast inputs, equal those of the whole domain', () => {
    const isMiddle = and(not(lt(coordinate(1), 2)), or(lt(coordinate(1), 5), eq(coordinate(1), 7)));
    const value = select(isMiddle, add(input(0), mul(coordinate(1), 10)), add(input(1), coordinate(0)));
    const [want, got] = both(variant, value, [inOrder([9]), inOrder([4, 1])], [4, 9]);
    expect(got).toEqual(want);
  });

  test('arithmetic on constants that makes NaN stays in the loop', () => {
    const value = mul(select(lt(coordinate(0), 2), 0, 1), Infinity);
    const [want, got] = both(variant, value, [], [4]);
    expect(got).toEqual(want);
  });
});

test('a domain is cut where comparisons of a coordinate change, and not into many parts', () => {
  const cut = (c: number) => lt(coordinate(0), c);
  expect(domainParts(select(cut(3), 1, 2), [5, 2])).toEqual([
    { start: [0, 0], shape: [3, 2] },
    { start: [3, 0], shape: [2, 2] },
  ]);
  expect(domainParts(select(cut(9), 1, 2), [5])).toHaveLength(1);
  const many = Array.from({ length: 20 }, (_, n) => cut(3 * n)).reduce<NumericExpr>(
    (sum, condition) => add(sum, select(condition, 1, 2)),
    input(0),
  );
  expect(domainParts(many, [100])).toHaveLength(1);
});

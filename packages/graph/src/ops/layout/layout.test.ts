import { describe, expect, test } from 'vitest';
import { runOperation } from '../../../testing/compare/run-operation.ts';
import { Graph } from '../../graph.ts';
import { inferShapes } from '../../ir/infer.ts';

describe('layout', () => {
  const a = { values: [1, 2, 3, 4, 5, 6], shape: [2, 3] };

  test('StaticTranspose and StaticReshape', async () => {
    expect(await runOperation('StaticTranspose', [a], { order: [1, -2] })).toEqual([[1, 4, 2, 5, 3, 6]]);
    expect(await runOperation('StaticTranspose', [a], { order: [] })).toEqual([[1, 4, 2, 5, 3, 6]]);
    await expect(runOperation('StaticTranspose', [a], { order: [0, 0] })).rejects.toThrow(
      'order [0,0] is not a permutation',
    );
    const shapeOf = (shape: readonly number[], special_zero: boolean) => {
      const g = new Graph();
      const [src, dst] = [g.tensor({ dtype: 'f32', shape: [2, 3] }), g.tensor({ dtype: 'f32' })];
      g.op('StaticReshape', { attrs: { shape, special_zero }, inputs: [src], outputs: [dst] });
      return inferShapes(g.nodes, new Map()).get(dst.id);
    };
    expect(shapeOf([3, -1], false)).toEqual([3, 2]);
    expect(shapeOf([0, 1, -1], true)).toEqual([2, 1, 3]);
    expect(() => shapeOf([4, -1], false)).toThrow('does not divide the 6 elements');
    expect(() => shapeOf([0, -1], false)).toThrow('does not divide');
    expect(() => shapeOf([7], false)).toThrow('has 7 elements, but [2,3] has 6');
  });

  test('TypeCast rounds to nearest even', async () => {
    expect(await runOperation('TypeCast', [{ values: [257, 259] }], {}, ['bf16'])).toEqual([[256, 260]]);
  });
});

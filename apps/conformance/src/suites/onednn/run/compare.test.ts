import { Tensor } from '@tilewise/core';
import { Graph } from '@tilewise/graph';
import { describe, expect, test } from 'vitest';
import { compare, isClose, isTrusted, joined } from './compare.ts';
import { gateOf } from './gate.ts';

describe('the gate', () => {
  const difference = (got: readonly number[], want: readonly number[]) =>
    compare(
      Tensor.from(got, [got.length]),
      Tensor.from(want, [want.length]),
      gateOf(undefined, 0, 'f32', []),
    );

  test('accepts one unit of rounding, and not four', () => {
    expect(isClose(difference([1, 1 + 2 ** -23], [1, 1]))).toBe(true);
    expect(isClose(difference([1, 1 + 2 ** -21], [1, 1]))).toBe(false);
  });

  describe('of a product that is not rounded yet', () => {
    const gate = { ...gateOf(undefined, 0, 'bf16', []), threshold: 0 };
    const failing = (got: readonly number[], exact: readonly number[], absolute: number) => {
      const shape = [exact.length];
      const given = Tensor.from(got, shape, { dtype: 'bf16' });
      return compare(given, Tensor.from(exact, shape), { ...gate, absolute }).failing;
    };
    const inBf16 = (x: number): number => Tensor.from([x], [1], { dtype: 'bf16' }).get(0);

    test('accepts the rounding of any number within the absolute gate, and nothing else', () => {
      // Between 1 and 1 + 4 ulp of bf16, including ties.
      const step = 2 ** -12;
      const near = Array.from({ length: 2 ** 7 + 1 }, (_, n) => 1 + n * step);
      const places = near.flatMap(x => [-1, 0, 1].map(side => x + side * 2 ** -24));
      for (const around of [0, step, 5 * step, 2 ** -7]) {
        for (const exact of near) {
          const inReach = places.filter(x => Math.abs(x - exact) <= around + 2 ** -24 * exact);
          const right = new Set(inReach.map(inBf16));
          for (const got of [inBf16(exact) - 2 ** -7, inBf16(exact), inBf16(exact) + 2 ** -7]) {
            if (got < 1 || got > 1 + 2 ** -5) continue;
            expect([exact, got, failing([got], [exact], around)]).toEqual([
              exact,
              got,
              right.has(got) ? 0 : 1,
            ]);
          }
        }
      }
    });

    test('accepts no number in place of NaN or an infinity, nor the other way round', () => {
      const [got, exact] = [
        [1, 1, NaN, Infinity, -Infinity],
        [NaN, Infinity, 1, 1, Infinity],
      ];
      expect(failing(got, exact, 0.1)).toBe(5);
      expect(failing([NaN, Infinity, Infinity], [NaN, Infinity, 3.4e38], 0.1)).toBe(0);
    });

    test('allows no more after a number has been rounded', () => {
      const [got, rounded] = [10, 9.9375].map(x => Tensor.from([x, 16], [2], { dtype: 'bf16' }));
      expect(compare(got, rounded, { ...gate, ofLargest: 10 * 2 ** -23, exactTo: 0 }).failing).toBe(1);
    });
  });

  test('mistrusts a product, or probabilities, with hardly anything but zeros', () => {
    const trusted = (kind: string, zeros: number) => {
      const values = Array.from({ length: 100 }, (_, n) => (n < zeros ? 0 : 1));
      return isTrusted(kind, difference(values, values));
    };
    expect([trusted('MatMul', 90), trusted('MatMul', 91)]).toEqual([true, false]);
    expect([trusted('SoftMax', 92), trusted('SoftMax', 93)]).toEqual([true, false]);
    expect(trusted('ReLU', 100)).toBe(true);
  });

  test('allows the error of probabilities for results that read them, and for no others', () => {
    const graph = new Graph();
    const [x, y] = [
      graph.tensor({ dtype: 'f32', shape: [2, 4] }),
      graph.tensor({ dtype: 'f32', shape: [2, 4] }),
    ];
    const [p, halved, squared] = [
      graph.tensor({ dtype: 'f32' }),
      graph.tensor({ dtype: 'f32' }),
      graph.tensor({ dtype: 'f32' }),
    ];
    graph.op('SoftMax', { attrs: { axis: -1 }, inputs: [x], outputs: [p] });
    graph.op('Multiply', { inputs: [p, y], outputs: [halved] });
    graph.op('Square', { inputs: [x], outputs: [squared] });
    const { nodes } = graph;
    const thresholdOf = (id: number) =>
      gateOf(
        nodes.find(node => node.outputs.some(t => t.id === id)),
        0,
        'f32',
        nodes,
      ).threshold;
    expect(thresholdOf(halved.id)).toBe(10 * 2 ** -23);
    expect(thresholdOf(squared.id)).toBe(2 ** -23);
  });

  test('allows the rounding of a sum for its smaller elements, if the sum is too large to be exact', () => {
    const graph = new Graph();
    const [a, b] = [
      graph.tensor({ dtype: 'f32', shape: [4, 4] }),
      graph.tensor({ dtype: 'f32', shape: [4, 4] }),
    ];
    const product = graph.tensor({ dtype: 'f32' });
    graph.op('MatMul', { inputs: [a, b], outputs: [product] });
    const gate = gateOf(graph.nodes[0], 0, 'f32', graph.nodes);
    const isRight = (largest: number, small: number, wanted: number): boolean =>
      compare(Tensor.from([largest, small], [2]), Tensor.from([largest, wanted], [2]), gate).failing === 0;
    expect(isRight(4e9, 1.0e8 + 1000, 1e8)).toBe(true);
    expect(isRight(4e9, 1.0e8 + 10000, 1e8)).toBe(false);
    expect(isRight(2 ** 23, 1001, 1000)).toBe(false);
  });

  test('accepts NaN and infinities only where they are expected', () => {
    expect(isClose(difference([NaN, -Infinity], [NaN, -Infinity]))).toBe(true);
    expect(isClose(difference([NaN], [0]))).toBe(false);
    expect(isClose(difference([Infinity], [-Infinity]))).toBe(false);
    // One among many points is too many.
    const want = new Array<number>(4096).fill(1);
    for (const wrong of [NaN, Infinity])
      expect(isClose(difference([wrong, ...want], [1, ...want]))).toBe(false);
  });

  test('accepts one element in a thousand if the norm of the error is small', () => {
    const want = new Array<number>(2048).fill(1);
    const got = (wrong: number) => want.map((x, n) => (n < wrong ? x + 1e-3 : x));
    expect(isClose(difference(got(2), want))).toBe(true);
    expect(isClose(difference(got(3), want))).toBe(false);
    // The parts of a tensor together give the same result as the whole tensor.
    const parts = [3, 0].map(wrong => difference(got(wrong), want));
    expect(isClose(joined(parts[0], parts[1]))).toBe(true);
    expect(isClose(joined(parts[0], difference(got(2), want)))).toBe(false);
  });
});

import { Tensor } from '@tilewise/core';
import { referenceEngine } from '@tilewise/core/reference';
import { Graph } from '@tilewise/graph';
import { describe, expect, test } from 'vitest';
import { batchOf } from '../rewrite/batch.ts';
import { drawnEntries, entriesOf } from './entries.ts';

/**
 * softmax(q·k + mask) over 2 × 5 heads, with one mask for all heads of a sequence; more operations may
 * follow.
 */
function scores(axis = -1) {
  const graph = new Graph();
  const q = graph.tensor({ id: 1, dtype: 'f32', shape: [2, 5, 3, 4] });
  const k = graph.tensor({ id: 2, dtype: 'f32', shape: [2, 5, 4, 6] });
  const mask = graph.tensor({ id: 3, dtype: 'f32', shape: [2, 1, 3, 6] });
  const [s, masked, p] = [4, 5, 6].map(id => graph.tensor({ id, dtype: 'f32' }));
  graph.op('MatMul', { inputs: [q, k], outputs: [s] });
  graph.op('Add', { inputs: [s, mask], outputs: [masked] });
  graph.op('SoftMax', { attrs: { axis }, inputs: [masked], outputs: [p] });
  return { graph, p };
}

const given = Object.fromEntries(
  [
    [2, 5, 3, 4],
    [2, 5, 4, 6],
    [2, 1, 3, 6],
  ].map((shape, n) => {
    const count = shape.reduce((a, b) => a * b);
    const values = Float64Array.from({ length: count }, (_, at) => Math.sin(at * (n + 1)));
    return [n + 1, Tensor.from(values, shape)];
  }),
);

describe('the batch of a graph', () => {
  test('is the dimension with the most entries that every operation leaves alone', () => {
    expect(batchOf(scores().graph.finalize())).toEqual({ dimension: 1, extent: 5, rank: 4 });
    expect(batchOf(scores(1).graph.finalize())).toEqual({ dimension: 0, extent: 2, rank: 4 });
  });

  test('does not exist if an operation may mix entries', () => {
    const reshaped = scores();
    reshaped.graph.op('StaticReshape', {
      attrs: { shape: [2, 3, 5, 6], special_zero: false },
      inputs: [reshaped.p],
      outputs: [reshaped.graph.tensor({ dtype: 'f32' })],
    });
    expect(batchOf(reshaped.graph.finalize())).toBeNull();
    const turned = scores();
    turned.graph.op('StaticTranspose', {
      attrs: { order: [1, 0, 2, 3] },
      inputs: [turned.p],
      outputs: [turned.graph.tensor({ dtype: 'f32' })],
    });
    expect(batchOf(turned.graph.finalize())).toBeNull();
  });
});

describe('drawn entries', () => {
  test('computed alone equal those of the whole batch', async () => {
    const graph = scores().graph.finalize();
    const results = await graph.run(referenceEngine(), given);
    const batch = batchOf(graph);
    if (!batch) throw new Error('there is a batch');
    const parts = entriesOf(graph.toJSON(), graph, { batch, drawn: [3, 0] }, given, results);
    for (const part of parts) {
      const alone = await part.graph.run(referenceEngine(), part.inputs);
      expect(alone[6].toFloat64()).toEqual(part.results[6].toFloat64());
    }
    expect(parts[0].results[6].toFloat64()).toEqual(results[6].slice(1, 3, 4).toFloat64());
  });

  test('are as many as requested, at least one, each once; none are drawn if all are compared', () => {
    const graph = scores().graph.finalize();
    const drawn = (gflop: number) => drawnEntries(graph, gflop, 1)?.drawn;
    expect(new Set(drawn(1.7)).size).toBe(2);
    expect(drawn(1)).toBeUndefined();
    // The last entry is always drawn.
    expect(drawn(1.7)).toContain(4);
    expect(drawn(1000)).toEqual([4]);
  });
});

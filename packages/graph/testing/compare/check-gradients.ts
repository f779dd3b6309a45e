import { Tensor } from '@tilewise/core';
import { referenceEngine } from '@tilewise/core/reference';
import { expect } from 'vitest';
import { gradients } from '../../src/gradients.ts';
import type { LogicalTensor } from '../../src/ir/tensor/logical-tensor.ts';
import type { GraphBuilder } from '../attention/attention-graph.ts';
import { expectSame, kernelsOf } from './expect-same.ts';

/** The backward graph, and its bindings: the results of forward, and a gradient of `of`. */
export async function backwardOf(
  { graph, bindings }: GraphBuilder,
  of: LogicalTensor,
  wanted: readonly LogicalTensor[],
  gradient: (n: number) => number,
) {
  const backward = gradients(graph.finalize(), { of, withRespectTo: wanted }).finalize();
  const results = await graph.run(referenceEngine(), bindings, { policy: 'debug' });
  const seed = backward.seeds.get(of.id);
  if (!seed) throw new Error('no seed');
  const { size, shape, dtype } = results[of.id];
  const dy = Tensor.from(
    Array.from({ length: size }, (_, n) => gradient(n)),
    shape,
    { dtype },
  );
  const needed = new Set(backward.inputs.map(t => t.id));
  const all: Record<number, Tensor | number | bigint> = { ...bindings, ...results, [seed.id]: dy };
  const own = Object.fromEntries(Object.entries(all).filter(([id]) => needed.has(Number(id))));
  return { backward, dy, own };
}

/**
 * Checks gradients by difference quotients of Σ seed·of, and returns how each partition of the backward graph
 * runs.
 */
export async function checkGradients(
  g: GraphBuilder,
  of: LogicalTensor,
  wanted: readonly LogicalTensor[],
): Promise<string[]> {
  const { graph, bindings } = g;
  const { backward, dy, own } = await backwardOf(g, of, wanted, n => Math.cos(n * n + 1));
  await expectSame(backward, own, 4e-6);

  const got = await backward.run(referenceEngine(), own);
  const loss = async (changed: Record<number, Tensor>): Promise<number> => {
    const y = (await graph.run(referenceEngine(), { ...bindings, ...changed }, { policy: 'debug' }))[
      of.id
    ].toFloat64();
    return y.reduce((sum, x, n) => sum + x * dy.toFloat64()[n], 0);
  };
  for (const t of wanted) {
    const gradient = got[backward.gradients.get(t.id)?.id ?? -1];
    const value = bindings[t.id] as Tensor;
    expect(gradient.shape).toEqual(value.shape);
    for (const at of [0, Math.floor(value.size / 2), value.size - 1]) {
      const h = 1e-2;
      const moved = (by: number) => ({
        [t.id]: Tensor.from(
          value.toFloat64().map((x, n) => (n === at ? x + by : x)),
          value.shape,
        ),
      });
      const slope = ((await loss(moved(h))) - (await loss(moved(-h)))) / (2 * h);
      expect(gradient.toFloat64()[at], `element ${at} of the gradient of tensor ${t.id}`).toBeCloseTo(
        slope,
        2,
      );
    }
  }
  return kernelsOf(backward, own);
}

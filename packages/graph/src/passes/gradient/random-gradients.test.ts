import { type Tensor, TilewiseError } from '@tilewise/core';
import { cpuEngine } from '@tilewise/core/cpu';
import { referenceEngine } from '@tilewise/core/reference';
import { expect, test } from 'vitest';
import { backwardOf } from '../../../testing/compare/check-gradients.ts';
import { randomGraph } from '../../../testing/random/random-graph.ts';
import { gradients } from '../../gradients.ts';
import type { Graph } from '../../graph.ts';
import type { LogicalTensor } from '../../ir/tensor/logical-tensor.ts';

const GRAPHS = 100;

/** The f32 inputs with respect to which a tensor has a gradient. */
function differentiable(graph: Graph, of: LogicalTensor): LogicalTensor[] {
  return graph.inputs.filter(t => {
    if (t.dtype !== 'f32' || t.property === 'host_scalar') return false;
    try {
      gradients(graph, { of, withRespectTo: [t] });
      return true;
    } catch (error) {
      if (error instanceof TilewiseError) return false;
      throw error;
    }
  });
}

/**
 * The largest difference relative to the largest of all gradients, because a gradient that cancels to 0 is
 * only as exact as its terms.
 */
function differenceOf(
  actual: Readonly<Record<number, Tensor>>,
  expected: Readonly<Record<number, Tensor>>,
): number {
  let [worst, largest] = [0, 1e-30];
  for (const [id, tensor] of Object.entries(expected)) {
    const got = actual[Number(id)].toFloat64();
    tensor.toFloat64().forEach((want, n) => {
      // Elements where forward divides 0 by 0 have no gradient.
      if (Number.isNaN(want)) return;
      worst = Math.max(worst, Math.abs(got[n] - want));
      largest = Math.max(largest, Math.abs(want));
    });
  }
  return worst / largest;
}

test(`gradients of ${GRAPHS} random graphs are the same fused, one by one, and on both engines`, async () => {
  let [passes, attention] = [0, 0];
  for (let seed = 1; seed <= GRAPHS; seed++) {
    const g = randomGraph(seed);
    for (const of of g.graph.finalize().outputs) {
      const wanted = of.dtype === 'f32' ? differentiable(g.graph, of) : [];
      if (wanted.length === 0) continue;
      const { backward, own } = await backwardOf(g, of, wanted, n => Math.cos(n * n + 1));
      const expected = await backward.run(referenceEngine(), own, { policy: 'debug' });
      for (const engine of [referenceEngine(), cpuEngine()]) {
        const difference = differenceOf(await backward.run(engine, own), expected);
        expect(difference, `graph ${seed}, of tensor ${of.id}, ${engine.name}`).toBeLessThanOrEqual(1e-5);
      }
      passes++;
      attention += backward.partitions().filter(({ kind }) => kind === 'sdpa-backward').length;
    }
  }
  expect(passes).toBeGreaterThan(GRAPHS / 2);
  expect(attention, 'how many have the backward pass of attention').toBeGreaterThan(GRAPHS / 8);
});

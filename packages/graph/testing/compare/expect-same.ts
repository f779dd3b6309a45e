import type { Tensor } from '@tilewise/core';
import { cpuEngine } from '@tilewise/core/cpu';
import { referenceEngine } from '@tilewise/core/reference';
import { expect } from 'vitest';
import type { Graph } from '../../src/graph.ts';
import type { Partition } from '../../src/runtime/partitions/partition.ts';

/**
 * Runs a graph operation by operation on the reference, and fused on the reference and the CPU. Expects equal
 * results to within `tolerance` of the largest number of each output, or to within the change that `changes`
 * has for the output's id, if that is larger. Returns the fused partitions.
 */
export async function expectSame(
  graph: Graph,
  bindings: Readonly<Record<number, Tensor | number | bigint>>,
  tolerance = 2e-6,
  changes: Readonly<Record<number, number>> = {},
): Promise<Partition[]> {
  const expected = await graph.run(referenceEngine(), bindings, { policy: 'debug' });
  for (const engine of [referenceEngine(), cpuEngine()]) {
    expectClose(await graph.run(engine, bindings), expected, tolerance, engine.name, changes);
  }
  return graph.partitions();
}

/**
 * Expects tensors to equal those with the same ids, to within `tolerance` of the largest number of each, or
 * to within the change that `changes` has for the id, if that is larger.
 */
export function expectClose(
  actual: Readonly<Record<number, Tensor>>,
  expected: Readonly<Record<number, Tensor>>,
  tolerance: number,
  engine: string,
  changes: Readonly<Record<number, number>> = {},
): void {
  for (const [id, tensor] of Object.entries(expected)) {
    const want = tensor.toFloat64();
    const got = actual[Number(id)].toFloat64();
    const largest = want.reduce((most, x) => (Number.isFinite(x) ? Math.max(most, Math.abs(x)) : most), 0);
    // Elements that are NaN in a graph (∞ − ∞, ∞ / ∞) are undefined, so they are not compared.
    const worst = want.reduce(
      (most, x, n) => (Number.isNaN(x) || got[n] === x ? most : Math.max(most, Math.abs(got[n] - x))),
      0,
    );
    expect(actual[Number(id)].shape).toEqual(tensor.shape);
    const allowed = Math.max(tolerance * largest, changes[Number(id)] ?? 1e-30);
    expect(worst, `error of tensor ${id} on ${engine}`).toBeLessThanOrEqual(allowed);
  }
}

/**
 * How the only partition of a graph runs on the CPU, such as `sdpa attention`; for several partitions, their
 * kinds.
 */
export function kernelsOf(
  graph: Graph,
  bindings: Readonly<Record<number, Tensor | number | bigint>>,
): string[] {
  const partitions = graph.partitions();
  // The shapes of tensors between several partitions are not known here.
  if (partitions.length > 1) return partitions.map(partition => partition.kind);
  return partitions.map(partition => {
    const inputs = Object.fromEntries(
      partition.inputs.flatMap(({ id }) => {
        const bound = bindings[id];
        return typeof bound === 'object'
          ? [[id, { shape: bound.shape, strides: bound.strides }] as const]
          : [];
      }),
    );
    return `${partition.kind} ${partition.compile(cpuEngine(), { inputs }).kernel}`;
  });
}

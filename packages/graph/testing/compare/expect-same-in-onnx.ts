import { Tensor } from '@tilewise/core';
import { referenceEngine } from '@tilewise/core/reference';
import { expect } from 'vitest';
import { fromOnnx, toOnnx } from '../../src/formats/onnx/index.ts';
import type { Graph } from '../../src/graph.ts';
import type { GraphBuilder } from '../attention/attention-graph.ts';
import { runOnnx } from './onnx-session.ts';

/**
 * Runs a graph, its ONNX model in onnxruntime, and the graph that is read back from the model. Expects equal
 * results to within `tolerance` of the largest number of each output. A model that onnxruntime has no kernel
 * for is only read back.
 */
export async function expectSameInOnnx(
  { graph, bindings }: GraphBuilder,
  tolerance = 1e-5,
  { inOnnxruntime = true } = {},
): Promise<void> {
  const model = toOnnx(graph);
  const feeds = graph.inputs.map(t => {
    const bound = bindings[t.id];
    const tensor =
      bound instanceof Tensor ? bound : Tensor.from([Number(bound)], [], { dtype: t.dtype as 'f32' });
    return [`t${t.id}`, tensor] as const;
  });
  const expected = await graph.run(referenceEngine(), bindings);
  const named = Object.fromEntries(feeds);
  if (inOnnxruntime) expectSame(graph, await runOnnx(model, named), expected, tolerance);
  expectSame(graph, await (await fromOnnx(model)).run(referenceEngine(), named), expected, tolerance);
}

function expectSame(
  graph: Graph,
  actual: Readonly<Record<string, Tensor>>,
  expected: Readonly<Record<number, Tensor>>,
  tolerance: number,
): void {
  expect(Object.keys(actual).length).toBe(graph.outputs.length);
  for (const { id } of graph.outputs) {
    const [a, e] = [actual[`t${id}`], expected[id]];
    expect(a.shape).toEqual([...e.shape]);
    expect(a.dtype).toBe(e.dtype);
    const largest = e
      .toFloat64()
      .reduce((most, x) => (Number.isFinite(x) ? Math.max(most, Math.abs(x)) : most), 1e-30);
    const values = a.toFloat64();
    e.toFloat64().forEach((x, n) => {
      if (!Object.is(x, values[n]) && x !== values[n])
        expect(Math.abs(x - values[n]) / largest, `t${id}[${n}] is ${values[n]}, not ${x}`).toBeLessThan(
          tolerance,
        );
    });
  }
}

/** Whether a graph's model contains a kind of node, by searching its bytes for the name. */
export function hasNode(graph: Graph, op: string): boolean {
  return new TextDecoder('latin1').decode(toOnnx(graph)).includes(`${op}_`);
}

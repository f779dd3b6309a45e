import { cpuEngine } from '@tilewise/core/cpu';
import { formatJson, Graph } from '@tilewise/graph';
import { expect, it } from 'vitest';
import type { AttentionGraphOptions } from './attention-graph.ts';
import { type GraphSource, openGraph, runReport } from './report.ts';

const options: AttentionGraphOptions = {
  pass: 'backward',
  dtype: 'f32',
  mask: 'causal',
  softmax: 'operation',
  dropout: true,
  grouped: false,
  softcap: false,
};
const built: GraphSource = { kind: 'built', options };

it('runs a gradient graph on the results of its forward graph', async () => {
  const { partitions, single, outputs } = await runReport(built, cpuEngine());
  expect(partitions.map(({ kernel }) => kernel)).toEqual(['attention']);
  expect(single?.difference).toBeLessThan(1e-5);
  expect(outputs.map(({ name }) => name).sort()).toEqual(['dk', 'dq', 'dv']);
  for (const { shape } of outputs) expect(shape).toEqual([1, 4, 64, 32]);
});

it('runs a file on random inputs', async () => {
  const text = formatJson(openGraph({ kind: 'built', options: { ...options, pass: 'training' } }).graph);
  const { partitions, single } = await runReport({ kind: 'file', name: 'x.json', text }, cpuEngine());
  expect(partitions.map(({ kind, kernel }) => `${kind} ${kernel}`)).toEqual(['sdpa-training attention']);
  expect(single?.difference).toBeLessThan(1e-5);
});

it('names an input that is too large to be drawn', async () => {
  const graph = new Graph();
  const src = graph.tensor({ dtype: 'f32', shape: [200_000, 200_000], name: 'x' });
  graph.op('Abs', { inputs: [src], outputs: [graph.tensor({ dtype: 'f32' })] });
  const text = formatJson(graph.finalize());
  await expect(runReport({ kind: 'file', name: 'x.json', text }, cpuEngine())).rejects.toThrow(
    /^tensor 0 .*has 40,000,000,000 numbers; this page makes at most 268,435,456$/,
  );
});

it('refuses a text that is not a graph, with the reason', () => {
  const open = (text: string) => () => openGraph({ kind: 'file', name: 'x.json', text });
  expect(open('{')).toThrow(/not JSON/);
  expect(open('{"graph": 1}')).toThrow(/must have a list 'graph'/);
});

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { formatJson, Graph } from '@tilewise/graph';
import { afterAll, expect, test } from 'vitest';
import { onednn } from '../suite.ts';
import { graphGflop } from './gflop.ts';

/** softmax(q·kᵀ + mask)·v over 2 heads of 3 queries and 5 keys, with 4 and 6 channels. */
function attention(): Graph {
  const graph = new Graph();
  const [q, k, v, mask] = [[2, 3, 4], [2, 5, 4], [2, 5, 6], [5]].map(shape =>
    graph.tensor({ dtype: 'f32', shape }),
  );
  const [s, masked, p, o] = [0, 1, 2, 3].map(() => graph.tensor({ dtype: 'f32' }));
  graph.op('MatMul', { attrs: { transpose_b: true }, inputs: [q, k], outputs: [s] });
  graph.op('Add', { inputs: [s, mask], outputs: [masked] });
  graph.op('SoftMax', { attrs: { axis: -1 }, inputs: [masked], outputs: [p] });
  graph.op('MatMul', { inputs: [p, v], outputs: [o] });
  return graph.finalize();
}

const scores = 2 * 3 * 5;
const work = (2 * scores * (4 + 6) + 2 * 10 * scores) / 1e9;

test('products count their terms, other operations their elements, including intermediate results', () => {
  expect(graphGflop(attention())).toBeCloseTo(work, 15);
});

const folder = mkdtempSync(join(tmpdir(), 'tilewise-graphs-'));
afterAll(() => rmSync(folder, { recursive: true }));

test('a stored graph is skipped by the work of its operations; an unreadable graph fails when it runs', async () => {
  const stored = formatJson(attention());
  writeFileSync(join(folder, 'attention.json'), stored);
  writeFileSync(join(folder, 'strange.json'), stored.replace('"SoftMax"', '"Soup"'));
  const open = await onednn.open({ graphs: folder, engine: 'cpu', 'max-gflop': `${work / 2}` });
  const skips = Object.fromEntries(open.cases.map(({ name, skip }) => [name, skip]));
  expect(skips).toEqual({ attention: expect.stringMatching(/more than --max-gflop/), strange: undefined });
  await expect(open.cases[1].run()).rejects.toThrow(/Soup/);
  await open.close();
});

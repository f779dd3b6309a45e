import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sharedDir } from '@tilewise/test-data';
import { describe, expect, test } from 'vitest';
import { Graph } from '../../graph.ts';
import { formatJson } from './write.ts';

const shared = sharedDir();
const folders = shared
  ? ['graphs', 'graphs-legacy'].map(name => join(shared, 'conformance/onednn', name))
  : [];
const files = folders.flatMap(folder =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter(file => file.endsWith('.json'))
    .map(file => join(folder, file)),
);

describe.skipIf(files.length === 0)('graphs of oneDNN', () => {
  test('come back as they were read', () => {
    for (const file of files) {
      const text = readFileSync(file, 'utf8');
      const expected = JSON.parse(text);
      const written = JSON.parse(formatJson(Graph.fromJSON(text)));
      for (const op of expected.graph) op.attrs ??= {};
      expect(written, file).toEqual(expected);
    }
  });
});

test('the numbers of a Constant come back bit by bit, as text and by JSON.stringify', () => {
  const value = [0, -0, 1e-45, 2 ** -126, 3.4028234663852886e38, Infinity, -Infinity, 0.1, 1 / 3, 16777217];
  const shape = [value.length];
  const graph = new Graph();
  graph.op('Constant', {
    attrs: { value, shape },
    inputs: [],
    outputs: [graph.tensor({ dtype: 'f32', shape })],
  });
  for (const text of [formatJson(graph), JSON.stringify(graph)]) {
    const [{ attributes }] = Graph.fromJSON(text).nodes;
    expect(attributes.value).toEqual(value);
    expect(attributes.shape).toEqual(shape);
  }
});

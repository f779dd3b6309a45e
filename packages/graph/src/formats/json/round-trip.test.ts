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
  test('are written as they were read', () => {
    for (const file of files) {
      const text = readFileSync(file, 'utf8');
      const expected = JSON.parse(text);
      const written = JSON.parse(formatJson(Graph.fromJSON(text)));
      for (const op of expected.graph) op.attrs ??= {};
      expect(written, file).toEqual(expected);
    }
  });
});

test('the numbers of a Constant survive bit by bit, as text and by JSON.stringify', () => {
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

describe('invalid JSON is refused by name', () => {
  const tensor = (id: number) => ({
    ...{ id, dtype: 'f32', shape: [2], stride: [1] },
    ...{ layout_type: 'strided', property_type: 'undef' },
  });
  const file = (attrs: string, name: unknown = 'sum') => ({
    ...{ version: '3.12.0', engine_kind: 'cpu', fpmath_mode: 'strict' },
    graph: [
      {
        ...{ id: 0, name, kind: 'ReduceSum', attrs: JSON.parse(attrs) },
        ...{ inputs: [tensor(0)], outputs: [tensor(1)] },
      },
    ],
  });
  const read = (json: unknown) => () => Graph.fromJSON(json as never);
  const axes = '"axes": { "type": "s64[]", "value": [0] }';

  test('a bool that is neither 0 nor 1; true means 1', () => {
    const keep = (value: string) => file(`{ ${axes}, "keep_dims": { "type": "bool", "value": ${value} } }`);
    for (const value of ['2', '"true"', 'null'])
      expect(read(keep(value))).toThrow(/^operation ReduceSum 0 'sum': attribute 'keep_dims' must be bool/);
    expect(read(keep('true'))().nodes[0].attributes.keep_dims).toBe(true);
  });

  test('an attribute named __proto__', () => {
    const json = file(`{ ${axes}, "__proto__": { "type": "s64[]", "value": [1] } }`);
    expect(read(json)).toThrow("has no attribute '__proto__'");
  });

  test('a name that is not a string', () => {
    expect(read(file(`{ ${axes} }`, { text: 'sum' }))).toThrow('graph[0] of the JSON is not an operation');
  });
});

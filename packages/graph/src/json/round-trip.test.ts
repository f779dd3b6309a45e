import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sharedDir } from '@tilewise/test-data';
import { describe, expect, test } from 'vitest';
import { Graph } from '../graph/graph.ts';
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

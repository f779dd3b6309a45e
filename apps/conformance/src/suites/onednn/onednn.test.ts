import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cpuEngine } from '@tilewise/core/cpu';
import { Graph } from '@tilewise/graph';
import { sharedDir } from '@tilewise/test-data';
import { describe, expect, test } from 'vitest';
import { caseName, type GraphCase, readCases, readGraph, storedCases } from './rewrite/case-file.ts';
import { rewrite } from './rewrite/rewrite.ts';
import { runGraphCase } from './run/run-graph-case.ts';
import { onednn } from './suite.ts';

/**
 * The case with the fewest elements for each graph and each operation that cases put into the graph, without
 * cases that take more than a moment.
 */
function smallestOfEach(cases: readonly GraphCase[], graphs: string): GraphCase[] {
  const smallest = new Map<string, { readonly entry: GraphCase; readonly elements: number }>();
  for (const entry of cases) {
    const { graph } = rewrite(readGraph(graphs, entry), entry);
    const shapes = graph.flatMap(({ inputs }) => inputs.map(({ shape }) => shape));
    const elements = shapes.reduce(
      (sum, shape) => sum + shape.reduce((n, extent) => n * Math.max(extent, 1), 1),
      0,
    );
    const key = `${entry.case} ${entry['op-kind']}`;
    const known = smallest.get(key);
    if (elements <= MAX_ELEMENTS && (!known || elements < known.elements))
      smallest.set(key, { entry, elements });
  }
  return [...smallest.values()].map(({ entry }) => entry);
}

const MAX_ELEMENTS = 2 ** 20;

test('an entry that is not a case fails, and one whose graph is missing is skipped', async () => {
  const own = mkdtempSync(join(tmpdir(), 'tilewise-onednn-'));
  try {
    const cases = join(own, 'cases.json');
    writeFileSync(cases, JSON.stringify([{ case: 'cases.json' }, 3, { case: 'away.json', dt: 'f16' }]));
    const open = await onednn.open({ graphs: own, cases, engine: 'cpu' });
    expect(open.cases.map(({ name, skip }) => [name, skip])).toEqual([
      ['cases', undefined],
      ['#1', undefined],
      ['away --dt=f16', `its graph is not in ${own}`],
    ]);
    const [, entry] = open.cases;
    expect(await entry.run()).toMatchObject({ status: 'fail', reason: 'it names no graph as its case' });
    open.close();
  } finally {
    rmSync(own, { recursive: true });
  }
});

const folder = join(sharedDir() ?? '', 'conformance/onednn');

describe.skipIf(!existsSync(folder))('graphs of oneDNN', { timeout: 60_000 }, () => {
  const graphs = join(folder, 'graphs');
  const cases = existsSync(folder) ? readCases(graphs, join(folder, 'derived/sdpa-cases.json')) : [];

  test('small cases of attention are one partition each, with the right results', async () => {
    const small = cases.filter(entry => (entry.matmul_gflop ?? 0) < 0.003);
    expect(small.length).toBeGreaterThan(3);
    for (const entry of small) {
      const outcome = await runGraphCase(entry, graphs, cpuEngine());
      expect(outcome, caseName(entry)).toMatchObject({
        status: 'pass',
        reason: expect.stringContaining(' attention'),
      });
    }
  });

  test('the batch of a resolved case is the one that the option gives', () => {
    const batched = cases.filter(({ mb }) => mb !== undefined);
    expect(batched.length).toBeGreaterThan(0);
    for (const entry of batched) {
      const { inputs, ...open } = entry;
      const shapes = Graph.fromJSON(rewrite(readGraph(graphs, entry), open)).finalize().inputs;
      const resolved = (inputs ?? []).map(({ id, shape }) => [id, shape]);
      expect(new Map(shapes.map(({ id, shape }) => [id, shape]))).toEqual(new Map(resolved as []));
    }
  });

  test('graphs of older releases are one partition each', () => {
    const older = join(folder, 'graphs-legacy');
    // Two graphs from before stats existed have the probabilities as a result or as an input.
    const stored = storedCases(older).filter(entry => !entry.case.includes('Bert_large-train'));
    expect(stored.length).toBeGreaterThan(20);
    for (const entry of stored) {
      const partitions = Graph.fromJSON(rewrite(readGraph(older, entry), entry))
        .finalize()
        .partitions();
      expect(
        partitions.map(({ supported }) => supported),
        entry.case,
      ).toEqual([true]);
    }
  });

  // All of them take hours; `conformance onednn` runs them.
  test.each(['op-cases.json', 'pattern-cases.json'])(
    'of %s the smallest case of each operation is right',
    async file => {
      const all = readCases(graphs, join(folder, 'derived', file));
      const sample = smallestOfEach(all, graphs);
      expect(sample.length).toBeGreaterThan(30);
      for (const entry of sample) {
        expect(await runGraphCase(entry, graphs, cpuEngine()), caseName(entry)).toMatchObject({
          status: 'pass',
        });
      }
    },
  );

  test('the smallest backward case is, too', async () => {
    const [backward] = cases
      .filter(entry => entry.case.includes('backward'))
      .sort((a, b) => (a.matmul_gflop ?? 0) - (b.matmul_gflop ?? 0));
    const outcome = await runGraphCase(backward, graphs, cpuEngine());
    expect(outcome).toMatchObject({ status: 'pass', reason: 'sdpa-backward attention' });
  });
});

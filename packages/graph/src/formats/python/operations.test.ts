import { fullPython, hasModule } from '@tilewise/test-data/python';
import { runSeed } from '@tilewise/test-data/random-problem';
import { expect, test } from 'vitest';
import { GraphBuilder } from '../../../testing/attention/attention-graph.ts';
import { attentionPatterns } from '../../../testing/attention/attention-patterns.ts';
import { backwardOf } from '../../../testing/compare/check-gradients.ts';
import { exact } from '../../../testing/python/operations/exact.ts';
import type { OperationCase } from '../../../testing/python/operations/operation-case.ts';
import { withGradients } from '../../../testing/python/operations/with-gradients.ts';
import { type CaseReport, PythonCases } from '../../../testing/python/python-cases.ts';
import { randomGraph } from '../../../testing/random/random-graph.ts';
import { UnsupportedOperationError } from '../../errors.ts';
import { operations } from '../../ops/table.ts';

// Without a Python that has the library, and without `TILEWISE_TORCH=full`, these are reported as skipped.
const libraries = (['torch', 'jax'] as const).map(library => ({ library }));
const missing = new Map<string, boolean>();
for (const { library } of libraries) missing.set(library, !(await hasModule(library, fullPython)));
const timeout = 600_000;

function withPython(name: string, run: (library: 'torch' | 'jax') => Promise<void>): void {
  for (const { library } of libraries) {
    test.skipIf(missing.get(library))(`${library}: ${name}`, { timeout }, () => run(library));
  }
}

function expectWithin(reports: ReadonlyMap<string, CaseReport>, limit: number): void {
  const wrong = [...reports].flatMap(([label, { problem, outputs = [], gradients = [] }]) =>
    problem !== undefined || [...outputs, ...gradients].some(x => typeof x === 'string' || x > limit)
      ? [`${label}: ${problem ?? `${outputs} | ${gradients}`}`]
      : [],
  );
  expect(wrong).toEqual([]);
}

withPython(
  'attention in each way to write it gives what the reference gives, and its gradients',
  async library => {
    const cases = new PythonCases(library);
    for (const [label, build] of Object.entries(attentionPatterns)) {
      const g = new GraphBuilder();
      const { o, inputs } = build(g);
      g.graph.finalize();
      const isOnly = g.graph.outputs[0].id === o.id;
      await cases.add(label, g, isOnly ? inputs : []);
    }
    expectWithin(await cases.run(), 3e-6);
  },
);

withPython('the graphs of gradients give what the reference gives', async library => {
  const cases = new PythonCases(library);
  for (const [label, build] of Object.entries(attentionPatterns)) {
    const g = new GraphBuilder();
    const { o, inputs } = build(g);
    const { backward, own } = await backwardOf(g, o, inputs, n => Math.cos(n * n + 1));
    await cases.add(label, { graph: backward, bindings: own });
  }
  expectWithin(await cases.run(), 5e-6);
});

withPython('random graphs give what the reference gives, or are refused by name', async library => {
  const cases = new PythonCases(library);
  // JAX compiles each graph, which takes a second.
  const count = library === 'torch' ? 100 : 25;
  let refused = 0;
  for (let n = 0; n < count; n++) {
    const seed = ((runSeed() % 1e6) + n) | 0;
    try {
      await cases.add(`graph ${seed}`, randomGraph(seed));
    } catch (error) {
      expect(error).toBeInstanceOf(UnsupportedOperationError);
      refused++;
    }
  }
  expect(refused).toBeLessThan(count / 10);
  // The rounding error of up to about twenty f32 operations in sequence, as between the engines.
  expectWithin(await cases.run(), 2e-5);
});

/** The gradient graph of a case. */
async function gradientsOf([, build]: OperationCase) {
  const g = new GraphBuilder();
  const by = build(g);
  g.graph.finalize();
  const { backward, own } = await backwardOf(g, g.graph.outputs[0], by, n => Math.cos(n * n + 1));
  return { graph: backward, bindings: own };
}

withPython('the graphs of gradients of operations give what the reference gives', async library => {
  const cases = new PythonCases(library);
  for (const given of withGradients) {
    const g = new GraphBuilder();
    if (given[1](g).length > 0) await cases.add(given[0], await gradientsOf(given));
  }
  expectWithin(await cases.run(), 5e-6);
});

test('each operation of the table has a case', async () => {
  const seen = new Set(['Sdpa', 'SdpaBackward', 'Wildcard']); // sdpa.test.ts; refused
  for (const [, build] of [...withGradients, ...exact]) {
    const g = new GraphBuilder();
    const by = build(g);
    for (const { kind } of g.graph.nodes) seen.add(kind);
    if (by.length === 0) continue;
    g.graph.finalize();
    const { backward } = await backwardOf(g, g.graph.outputs[0], by, n => n);
    for (const { kind } of backward.nodes) seen.add(kind);
  }
  expect(operations.map(({ kind }) => kind).filter(kind => !seen.has(kind))).toEqual([]);
});

withPython(
  'operations give what the reference gives, and their gradients, where they have kinks too',
  async library => {
    const cases = new PythonCases(library);
    for (const [label, build] of withGradients) {
      const g = new GraphBuilder();
      await cases.add(label, g, build(g));
    }
    expectWithin(await cases.run(), 3e-6);
  },
);

withPython('masks, random numbers, rounding to 16 and 8 bits are equal', async library => {
  const cases = new PythonCases(library);
  for (const [label, build] of exact) {
    const g = new GraphBuilder();
    build(g);
    await cases.add(label, g);
  }
  expectWithin(await cases.run(), 0);
});

import { referenceEngine } from '@tilewise/core/reference';
import { isFuzzing } from '@tilewise/test-data/random-problem';
import { expect, test } from 'vitest';
import { GraphBuilder } from '../../testing/attention/attention-graph.ts';
import { expectClose } from '../../testing/compare/expect-same.ts';
import { runOnGpu } from '../../testing/compare/webgpu-engine.ts';
import { randomGraph } from '../../testing/random/random-graph.ts';

/**
 * Fewer graphs than on the host, because a software adapter takes about a second to compile a new score
 * chain.
 */
const GRAPHS = isFuzzing() ? 16 : 10;
/** The first seed here; the tests on the host use the seeds before it. */
const FIRST = 301;

test(`${GRAPHS} random graphs have the results of the reference on WebGPU, fused and one by one`, {
  timeout: 300_000,
}, async () => {
  let attention = 0;
  for (let seed = FIRST; seed < FIRST + GRAPHS; seed++) {
    const { graph, bindings } = randomGraph(seed);
    try {
      const expected = await graph.run(referenceEngine(), bindings, { policy: 'debug' });
      for (const policy of ['fusion', 'debug'] as const) {
        expectClose(await runOnGpu(graph, bindings, policy), expected, 2e-5, `webgpu, ${policy}`);
      }
      attention += graph.partitions().filter(({ kind }) => kind.startsWith('sdpa')).length;
    } catch (error) {
      throw new Error(`graph ${seed}: ${error instanceof Error ? error.message : error}`, { cause: error });
    }
  }
  expect(attention, 'how many of them have attention in them').toBeGreaterThan(GRAPHS / 3);
});

test('a product whose epilogue adds its own operand binds the tensor twice', async () => {
  const g = new GraphBuilder();
  const x = g.input([3, 8]);
  g.op('Add', [g.op('MatMul', [x, g.input([8, 8])]), x]);
  g.op('Exp', [g.op('MatMul', [g.input([8, 8]), x], { transpose_b: true })]);
  const expected = await g.graph.run(referenceEngine(), g.bindings, { policy: 'debug' });
  expectClose(await runOnGpu(g.graph, g.bindings, 'fusion'), expected, 2e-5, 'webgpu');
});

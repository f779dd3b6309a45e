import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Tensor } from '@tilewise/core';
import { cpuEngine } from '@tilewise/core/cpu';
import { expect, test } from 'vitest';
import { GraphBuilder } from '../../testing/attention/attention-graph.ts';
import { add, compile, matmul, type Variable } from '../frontends/functions/index.ts';
import { gradients } from '../gradients.ts';
import type { Graph } from '../graph.ts';
import { storageDesc } from '../ir/tensor/storage.ts';

const [H, S, D] = [2, 256, 64];
const BYTES_OF_O = 4 * H * S * D;

/**
 * A graph on the CPU with all results bound, which runs once, and the number of new bytes of storage after
 * another run.
 */
async function bytesOfARun(
  graph: Graph,
  bindings: Readonly<Record<number, Tensor | number | bigint>>,
  engine = cpuEngine({ threads: 1 }),
) {
  const compiled = graph.compile(engine);
  const results = compiled.outputs.map(t => [t.id, engine.primitives.allocate(storageDesc(t))] as const);
  const bound = { ...bindings, ...Object.fromEntries(results) };
  await compiled.execute(bound);
  const growth: number[] = [];
  for (let n = 0; n < 3; n++) {
    const { arrayBuffers: before } = process.memoryUsage();
    await compiled.execute(bound);
    growth.push(process.memoryUsage().arrayBuffers - before);
  }
  // A garbage collection in between makes the number smaller, never larger.
  return {
    bytes: Math.max(...growth),
    results: Object.fromEntries(results),
    workspaceBytes: compiled.workspaceBytes,
  };
}

test('attention on the CPU, forward and backward, takes no memory per execution', async () => {
  const g = new GraphBuilder();
  const [q, k, v] = [0, 1, 2].map(() => g.input([1, H, S, D]));
  const scores = g.op('Multiply', [g.op('MatMul', [q, k], { transpose_b: true }), g.scalar(0.125)]);
  const [p] = g.softmax(scores);
  const o = g.op('MatMul', [p, v]);
  const backward = gradients(g.graph.finalize(), { of: o, withRespectTo: [q, k, v] }).finalize();
  const forward = await bytesOfARun(g.graph, g.bindings);
  expect(forward.bytes).toBeLessThan(BYTES_OF_O / 4);
  // An engine that is called directly allocates its results.
  const called = { ...cpuEngine({ threads: 1 }), prepareAttention: undefined };
  expect((await bytesOfARun(g.graph, g.bindings, called)).bytes).toBeGreaterThanOrEqual(BYTES_OF_O);

  const seed = backward.seeds.get(o.id)?.id ?? -1;
  const dO = Tensor.from(new Float32Array(H * S * D).fill(0.1), [1, H, S, D]);
  const back = await bytesOfARun(backward, { ...g.bindings, ...forward.results, [seed]: dO });
  expect(back.bytes).toBeLessThan(BYTES_OF_O / 4);
  // Copies of stats without the rows that see no key, and of the o that is passed on in place, but nothing as
  // large as the scores.
  expect(forward.workspaceBytes + back.workspaceBytes).toBeLessThan(4 * S * S);
});

/** Collects garbage; the references of this turn of the event loop keep their tensors. */
async function collectGarbage(): Promise<void> {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  await setImmediate();
  collect();
}

test('graphs do not keep the tensors of earlier runs alive', async () => {
  const engine = cpuEngine({ threads: 1 });
  const seen: WeakRef<Tensor>[] = [];
  const run = async (extent: number, held?: (inputs: { x: Tensor; y: Tensor }) => Promise<unknown>) => {
    const tensor = () => Tensor.from(new Float32Array(extent * extent).fill(0.5), [extent, extent]);
    const inputs = { x: tensor(), y: tensor() };
    seen.push(...Object.values(inputs).map(t => new WeakRef(t)));
    if (held) return held(inputs);
    const g = new GraphBuilder();
    const [x, y] = [g.input([extent, extent]), g.input([extent, extent])];
    g.op('Add', [g.op('MatMul', [x, y]), x]);
    return g.graph.finalize().run(engine, { [x.id]: inputs.x, [y.id]: inputs.y });
  };
  for (let n = 0; n < 10; n++) await run(8 + n);
  const compiled = compile(engine, ({ x, y }: Record<string, Variable>) => add(matmul(x, y), x), {
    x: [8, 8],
    y: [8, 8],
  });
  for (let n = 0; n < 10; n++) await run(8, inputs => compiled(inputs));
  await collectGarbage();
  // Views of the last inputs may still be there.
  expect(seen.filter(ref => ref.deref()).length).toBeLessThanOrEqual(4);
  compiled.release();
});

import type { Tensor } from '@tilewise/core';
import { cpuEngine } from '@tilewise/core/cpu';
import type { TensorEngine } from '@tilewise/core/primitive';
import { expect, test } from 'vitest';
import { GraphBuilder } from '../../testing/attention/attention-graph.ts';

/**
 * An engine in which one of the calls that may fail does fail, and its live resources: created tensors and
 * prepared work.
 * @param readiesAttention whether the engine prepares attention; otherwise attention is a call that returns
 * new tensors.
 */
function failingEngine(readiesAttention = true) {
  const own = cpuEngine({ threads: 1 });
  const { primitives, prepareAttention } = own;
  if (!prepareAttention) throw new Error('the CPU engine readies attention');
  const held = new Set<object>();
  const called = new Set<string>();
  let left = Infinity;
  function call<V>(name: string, made: () => V): V {
    called.add(name);
    if (--left === 0) throw new Error(`${name} fails`);
    return made();
  }
  function make<V extends object>(name: string, made: () => V): V {
    const value = call(name, made);
    held.add(value);
    return value;
  }
  function ready<V extends { release(): void }>(name: string, made: () => V): V {
    const prepared: V = make(name, () => ({
      ...made(),
      release: () => {
        held.delete(prepared);
      },
    }));
    return prepared;
  }
  const engine: TensorEngine<Tensor> = {
    ...own,
    upload: tensor => make('upload', () => primitives.view(own.upload(tensor), tensor)),
    release: tensor => {
      held.delete(tensor);
    },
    async sdpa(...given) {
      const results = await call('sdpa', () => own.sdpa(...given));
      for (const tensor of [results.o, results.lse]) held.add(tensor);
      return results;
    },
    prepareAttention: readiesAttention
      ? (...given) => ready('prepareAttention', () => prepareAttention(...given))
      : undefined,
    primitives: {
      ...primitives,
      allocate: desc => make('allocate', () => primitives.allocate(desc)),
      prepare: (...given) => ready('prepare', () => primitives.prepare(...given)),
      view: (...given) => call('view', () => primitives.view(...given)),
    },
  };
  /** Makes the n-th call from now fail. */
  const failAt = (n: number): void => {
    left = n;
  };
  return { engine, held, called, failAt };
}

/** Attention with operations around it. Its dropout drops everything, for which a mask is uploaded. */
function attentionAmidOthers(p: number) {
  const g = new GraphBuilder();
  const [q, k, v, w] = [g.input([1, 2, 4, 3]), g.input([1, 2, 4, 3]), g.input([1, 2, 4, 3]), g.input([3, 3])];
  const normed = g.op('RMSNorm', [q]);
  const [probabilities] = g.softmax(g.op('MatMul', [normed, k], { transpose_b: true }));
  const dropped = g.op('Dropout', [probabilities, g.scalar(1n, 'i64'), g.scalar(0n, 'i64'), g.scalar(p)]);
  const o = g.op('MatMul', [dropped, v]);
  g.op('Tanh', [g.op('MatMul', [g.op('Tanh', [g.op('MatMul', [o, w])]), w])]);
  g.graph.finalize();
  return g;
}

test('wherever compilation fails, everything is freed', () => {
  const g = attentionAmidOthers(0.5);
  for (let failing = 1; ; failing++) {
    const { engine, held, called, failAt } = failingEngine();
    failAt(failing);
    let compiled: { release(): void };
    try {
      compiled = g.graph.compile(engine);
    } catch (error) {
      expect(String(error)).toMatch(/ fails$/);
      expect([...held], `call ${failing}: ${error}`).toEqual([]);
      continue;
    }
    expect([...called].sort()).toEqual(['allocate', 'prepare', 'prepareAttention', 'upload', 'view']);
    expect(held.size).toBeGreaterThan(0);
    compiled.release();
    expect(held.size).toBe(0);
    return;
  }
});

test.each([
  ['readies attention', true, ['prepareAttention', 'upload']],
  ['is called for it', false, ['prepare', 'sdpa']],
])(
  'wherever an execution fails, only the compiled graph stays: an engine that %s',
  async (_, readies, own) => {
    const g = attentionAmidOthers(1);
    for (let failing = 1; ; failing++) {
      const { engine, held, called, failAt } = failingEngine(readies);
      const compiled = g.graph.compile(engine);
      called.clear();
      failAt(failing);
      const executed = await compiled.execute(g.bindings).catch(String);
      if (typeof executed === 'object') for (const tensor of Object.values(executed)) engine.release(tensor);
      compiled.release();
      expect([...held], `call ${failing}: ${executed}`).toEqual([]);
      if (typeof executed === 'object') {
        expect([...called]).toEqual(expect.arrayContaining(['allocate', ...own]));
        return;
      }
      expect(executed).toMatch(/ fails$/);
    }
  },
);

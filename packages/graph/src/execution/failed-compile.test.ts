import type { Tensor } from '@tilewise/core';
import { cpuEngine } from '@tilewise/core/cpu';
import type { TensorEngine } from '@tilewise/core/primitive';
import { expect, test } from 'vitest';
import { GraphBuilder } from '../../testing/attention-graph.ts';

/** An engine whose `failing`-th call fails of those that may, and what it holds: tensors that it made, and what it readied. */
function failingAt(failing: number) {
  const engine = cpuEngine({ threads: 1 });
  const { primitives, prepareAttention } = engine;
  if (!prepareAttention) throw new Error('the CPU engine readies attention');
  const held = new Set<object>();
  const called = new Set<string>();
  let calls = 0;
  function make<V extends object>(name: string, made: () => V): V {
    called.add(name);
    if (++calls === failing) throw new Error(`${name} fails`);
    const value = made();
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
  const fails: TensorEngine<Tensor> = {
    ...engine,
    upload: tensor => make('upload', () => primitives.view(engine.upload(tensor), tensor)),
    release: tensor => {
      held.delete(tensor);
    },
    prepareAttention: (...given) => ready('prepareAttention', () => prepareAttention(...given)),
    primitives: {
      ...primitives,
      allocate: desc => make('allocate', () => primitives.allocate(desc)),
      prepare: (...given) => ready('prepare', () => primitives.prepare(...given)),
      view(...given) {
        called.add('view');
        if (++calls === failing) throw new Error('view fails');
        return primitives.view(...given);
      },
    },
  };
  return { engine: fails, held, called };
}

test('wherever compiling fails, nothing is kept', () => {
  const g = new GraphBuilder();
  const [q, k, v, w] = [g.input([1, 2, 4, 3]), g.input([1, 2, 4, 3]), g.input([1, 2, 4, 3]), g.input([3, 3])];
  const normed = g.op('RMSNorm', [q]);
  const [p] = g.softmax(g.op('MatMul', [normed, k], { transpose_b: true }));
  const o = g.op('MatMul', [p, v]);
  g.op('Tanh', [g.op('MatMul', [g.op('Tanh', [g.op('MatMul', [o, w])]), w])]);
  g.graph.finalize();
  for (let failing = 1; ; failing++) {
    const { engine, held, called } = failingAt(failing);
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

import { Tensor } from '@tilewise/core';
import type { TensorEngine } from '@tilewise/core/primitive';
import { referenceEngine } from '@tilewise/core/reference';
import { expect, test } from 'vitest';
import { GraphBuilder } from '../../../testing/attention/attention-graph.ts';
import { COMPILED_PARTITION_CAPACITY } from './compiled-partition-cache.ts';

/** The reference engine, and the primitives that it has prepared. */
function counting() {
  const engine = referenceEngine();
  const count = { ready: 0 };
  const counted: TensorEngine<Tensor> = {
    ...engine,
    primitives: {
      ...engine.primitives,
      prepare(...args) {
        count.ready++;
        const prepared = engine.primitives.prepare(...args);
        return { ...prepared, release: () => count.ready-- };
      },
    },
  };
  return { engine: counted, count };
}

function squares() {
  const g = new GraphBuilder('rankless');
  const x = g.input([1]);
  const y = g.op('Square', [x]);
  const [partition] = g.graph.finalize().partitions();
  const shaped = (length: number) => ({ inputs: { [x.id]: { shape: [length] } } });
  const three = { [x.id]: Tensor.from([3], [1]) };
  return { partition, x, y, shaped, three };
}

test('a partition with two holders runs until both have released it, and is then freed', async () => {
  const { engine, count } = counting();
  const { partition, y, shaped, three } = squares();
  const [one, other] = [partition.compile(engine, shaped(1)), partition.compile(engine, shaped(1))];
  expect(count.ready).toBe(1);
  one.release();
  one.release();
  await expect(one.execute(three)).rejects.toThrow('partition has been released');
  expect((await other.execute(three))[y.id].get(0)).toBe(9);
  other.release();
  expect(count.ready).toBe(0);
  expect((await partition.compile(engine, shaped(1)).execute(three))[y.id].get(0)).toBe(9);
});

test('a partition that drops out of the cache stays with its holder; without a holder it is freed', async () => {
  const { engine, count } = counting();
  const { partition, x, y, shaped, three } = squares();
  const held = partition.compile(engine, shaped(1));
  await partition.run(engine, { [x.id]: Tensor.zeros([2]) });
  expect(count.ready).toBe(2);
  for (let n = 0; n < COMPILED_PARTITION_CAPACITY; n++) {
    partition.compile(engine, shaped(3 + n)).release();
    // Compiled partitions that were run stay in the cache.
    await partition.run(engine, { [x.id]: Tensor.zeros([3 + n]) });
  }
  expect(count.ready).toBe(COMPILED_PARTITION_CAPACITY + 1);
  expect((await held.execute(three))[y.id].get(0)).toBe(9);
  held.release();
  expect(count.ready).toBe(COMPILED_PARTITION_CAPACITY);
});

test('a kept partition survives its release, and is freed when it drops out of the cache', () => {
  const { engine, count } = counting();
  const { partition, shaped } = squares();
  const kept = (length: number) => partition.compile(engine, { ...shaped(length), kept: true });
  kept(1).release();
  const held = kept(1);
  expect(count.ready).toBe(1);
  for (let n = 0; n < COMPILED_PARTITION_CAPACITY; n++) kept(2 + n).release();
  expect(count.ready).toBe(COMPILED_PARTITION_CAPACITY + 1);
  held.release();
  expect(count.ready).toBe(COMPILED_PARTITION_CAPACITY);
});

import type { Engine, SdpaOptions, Tensor } from '@tilewise/core';
import { cpuEngine } from '@tilewise/core/cpu';
import { expect, test } from 'vitest';
import { createModel } from './model.ts';
import { evaluate, train } from './training.ts';

async function losses(engine: Engine, seed: number, dropout?: number): Promise<number[]> {
  const found: number[] = [];
  const shape = { heads: 2, headSize: 4 };
  const options = { steps: 4, seed, batch: 4, pairs: 3, dropout };
  await train(engine, createModel(seed, shape), options, ({ loss }) => found.push(loss));
  return found;
}

test('equal seeds give equal losses, bit for bit', async () => {
  const first = await losses(cpuEngine(), 7);
  expect(first).toHaveLength(4);
  expect(await losses(cpuEngine(), 7)).toEqual(first);
  expect(await losses(cpuEngine(), 8)).not.toEqual(first);
});

test('dropout changes the losses', async () => {
  expect(await losses(cpuEngine(), 7, 0)).not.toEqual(await losses(cpuEngine(), 7, 0.3));
});

test('each layer of each step draws its dropout from a stretch of its own', async () => {
  const stretches: { from: bigint; to: bigint }[] = [];
  const cpu = cpuEngine();
  const engine: Engine<Tensor> = {
    ...cpu,
    sdpa(q, k, v, options: SdpaOptions<Tensor> = {}) {
      const { dropout } = options;
      if (dropout && 'seed' in dropout) {
        const from = BigInt(dropout.offset ?? 0);
        const [B, H, S] = q.shape;
        stretches.push({ from, to: from + BigInt(B * H * S * S) });
      }
      return cpu.sdpa(q, k, v, options);
    },
  };
  await losses(engine, 7);
  expect(stretches).toHaveLength(8);
  stretches.slice(1).forEach(({ from }, n) => {
    expect(from).toBeGreaterThanOrEqual(stretches[n].to);
  });
});

test('an untrained model guesses', async () => {
  const accuracy = await evaluate(cpuEngine(), createModel(1), { seed: 1, sequences: 32 });
  expect(accuracy).toBeLessThan(0.3);
});

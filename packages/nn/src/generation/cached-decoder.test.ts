import type { PartialDesc, Tensor } from '@tilewise/core';
import { cpuEngine } from '@tilewise/core/cpu';
import { expect, test } from 'vitest';
import { tinyLlama } from '../../testing/tiny-model.ts';
import { readModel } from '../architectures/read-model.ts';
import { createModel } from '../create-model.ts';
import { cachedDecoder } from './cached-decoder.ts';
import type { Causal } from './decoder-step.ts';

test('a conversation that grows to 8,192 tokens has caches of few sizes, at most half too large', () => {
  const cpu = cpuEngine({ threads: 1 });
  const capacities: number[] = [];
  const allocate = (desc: PartialDesc): Tensor => {
    capacities.push(desc.shape[2]);
    return cpu.primitives.allocate({ ...desc, shape: [1] });
  };
  const engine = { ...cpu, primitives: { ...cpu.primitives, allocate } };
  const model = createModel(readModel(tinyLlama), { engine });
  for (let length = 100; length <= 8192; length += 4) {
    cachedDecoder(model, model.definition as Causal, { batch: 1, length }).release();
    const capacity = capacities.at(-1) ?? 0;
    expect(capacity).toBeGreaterThanOrEqual(length);
    expect(capacity).toBeLessThanOrEqual(Math.max(1.5 * length, length + 256));
  }
  expect(new Set(capacities).size).toBeLessThanOrEqual(10);
});

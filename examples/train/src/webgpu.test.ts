import type { TensorDesc } from '@tilewise/core';
import { cpuEngine } from '@tilewise/core/cpu';
import type { TensorEngine } from '@tilewise/core/primitive';
import { openEngine } from '@tilewise/host-engine';
import type { StepReport } from '@tilewise/nn';
import { expect, test } from 'vitest';
import { recallDataset } from './data/recall.ts';
import { createRun } from './run.ts';

const config = { layers: 1, heads: 2, dim: 8, context: 8, batch: 2, dropout: 0.25, warmup: 0 };

async function steps<T extends TensorDesc>(engine: TensorEngine<T>): Promise<StepReport[]> {
  const trainer = createRun({ engine, data: recallDataset(), config, seed: 4 });
  const reports: StepReport[] = [];
  for (let n = 0; n < 2; n++) reports.push(await trainer.step());
  trainer.release();
  return reports;
}

test('WebGPU trains as the CPU does: the same weights, sequences and dropout', async () => {
  const { run, close } = await openEngine('webgpu');
  const onGpu = await run(steps);
  close();
  const onCpu = await steps(cpuEngine({ threads: 1 }));
  // The sums are of a few hundred f32 products in a different order, each rounded to 6e-8 of its size.
  // AdamW's step of 5e-3 does not depend on the size of a gradient, so its sign can flip if a gradient is
  // nearly 0.
  for (const [n, { loss }] of onCpu.entries()) expect(Math.abs(onGpu[n].loss - loss)).toBeLessThan(2e-3);
  expect(onGpu.map(({ accuracy }) => accuracy)).toEqual(onCpu.map(({ accuracy }) => accuracy));
  expect(new Set(onGpu.map(({ loss }) => loss)).size).toBe(2);
}, 240_000);

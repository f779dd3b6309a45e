import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cpuEngine } from '@tilewise/core/cpu';
import { sharedDir } from '@tilewise/test-data';
import { fullPython, printedLosses, runPython, torchrun, writeFiles } from '@tilewise/test-data/python';
import { expect, test } from 'vitest';
import { filesOf, tinyLlama } from '../../../testing/tiny-model.ts';
import { folderFiles } from '../../files/sources/folder-files.ts';
import { loadModel } from '../../load-model.ts';
import { IGNORED } from '../../model/labels.ts';
import { createTrainer } from '../../training/trainer.ts';
import type { TrainerOptions } from '../../training/trainer-options.ts';
import { loadCheckpoint } from '../../training/training-checkpoint.ts';
import { exportTorch } from './export-torch.ts';

const STEPS = 6;
const tokens = [
  [1, 2, 3, 4, 5, 6, 7, 8],
  [3, 1, 4, 1, 5, 9, 2, 6],
];
const whole = { inputs: { tokens }, labels: tokens };
// The second text ends after five tokens.
const padded = {
  inputs: { tokens, lengths: [8, 5] },
  labels: [tokens[0], [...tokens[1].slice(0, 5), IGNORED, IGNORED, IGNORED]],
};

test('a model is a module of at most 500 lines, with its weights under their names', async () => {
  const model = await loadModel(filesOf(tinyLlama), { engine: cpuEngine() });
  const module = String((await exportTorch(model, [whole], { name: 'llama' }))['llama/model.py']);
  expect(module.split('\n').length).toBeLessThanOrEqual(500);
  expect(module).toContain('self.get_parameter("model.layers.1.mlp.down_proj.weight")');
});

test.skipIf(fullPython === undefined)(
  'a model trains in PyTorch as here, in one process and on ranks, with texts of one length and of several',
  { timeout: 600_000 },
  async () => {
    const published = join(sharedDir() ?? '', 'vectors/models/llama');
    const training = { steps: STEPS, lr: 1e-3, betas: '0.9,0.999', clip: 1, 'weight-decay': 0.01 };
    for (const batch of [whole, padded]) {
      const files = existsSync(published) ? folderFiles(published) : filesOf(tinyLlama);
      const model = await loadModel(files, { engine: cpuEngine() });
      const folder = mkdtempSync(join(tmpdir(), 'tilewise-llama-'));
      writeFiles(folder, await exportTorch(model, [batch], { name: 'llama', training }));
      const trainer = createTrainer(model, { learningRate: 1e-3 });
      const losses: number[] = [];
      for (let n = 0; n < STEPS; n++) losses.push((await trainer.step(batch)).loss);
      trainer.release();
      const train = async (ranks: number, ...args: readonly string[]): Promise<number[]> =>
        printedLosses(await runPython([...torchrun(ranks), '-m', 'llama.train', ...args], folder));
      const distance = (a: readonly number[], b: readonly number[]): number =>
        Math.max(...a.map((loss, n) => Math.abs(loss - b[n])));
      const alone = await train(1);
      expect(alone).toHaveLength(STEPS);
      expect(distance(alone, losses)).toBeLessThanOrEqual(1e-4);
      expect(distance(alone, await train(2, '--mesh', '1x2'))).toBeLessThanOrEqual(1e-5);
      expect(distance(alone, await train(4, '--mesh', '2x2'))).toBeLessThanOrEqual(1e-5);
      expect(distance(alone, await train(4, '--mesh', '1x4'))).toBeLessThanOrEqual(1e-5);
    }
  },
);

test('the state of a run without AdamW is refused', async () => {
  const model = await loadModel(filesOf(tinyLlama), { engine: cpuEngine() });
  const trainer = createTrainer(model, { learningRate: 0.1, optimizer: { kind: 'sgd', momentum: 0.9 } });
  await trainer.step(whole);
  await expect(exportTorch(model, [whole], { from: await trainer.snapshot() })).rejects.toThrow(
    "from must be a state of AdamW, but has no moments of 'lm_head.weight'",
  );
});

const lora = { rank: 2, alpha: 4, dropout: 0.2, targets: ['q_proj', 'v_proj'], rankStabilised: false };

test.skipIf(fullPython === undefined).each<[string, Partial<TrainerOptions>]>([
  ['the weights below an adapter', { lora }],
  ['frozen weights', { groups: [{ names: /embed|norm/, rate: 0 }] }],
])(
  '%s are constant in PyTorch, which continues the run with the defaults of a trainer',
  { timeout: 600_000 },
  async (_, options) => {
    const model = await loadModel(filesOf(tinyLlama), { engine: cpuEngine() });
    const trainer = createTrainer(model, { learningRate: 1e-2, seed: 3, ...options });
    await trainer.step(whole);
    const from = await trainer.snapshot();
    const folder = mkdtempSync(join(tmpdir(), 'tilewise-llama-'));
    const save = join(folder, 'the last state.safetensors');
    const training = { lr: 1e-2, save };
    const batches = Array.from({ length: STEPS - 1 }, () => whole);
    writeFiles(folder, await exportTorch(model, batches, { name: 'llama', training, from, seed: 3 }));
    const losses: number[] = [];
    for (let n = 1; n < STEPS; n++) losses.push((await trainer.step(whole)).loss);
    const others = printedLosses(await runPython(['-m', 'llama.train'], folder));
    expect(others).toHaveLength(losses.length);
    for (const [n, loss] of losses.entries()) expect(others[n]).toBeCloseTo(loss, 4);
    expect((await loadCheckpoint(readFileSync(save))).steps).toBe(STEPS);
  },
);

test.skipIf(fullPython === undefined)(
  'a model with operands in 16 bits has the same losses in PyTorch',
  { timeout: 600_000 },
  async () => {
    for (const [autocast, tolerance] of [
      ['f16', 5e-4],
      ['bf16', 4e-3],
    ] as const) {
      const model = await loadModel(filesOf(tinyLlama), { engine: cpuEngine(), autocast });
      const folder = mkdtempSync(join(tmpdir(), 'tilewise-llama-'));
      const training = { steps: STEPS, lr: 1e-3, betas: '0.9,0.999', clip: 1, 'weight-decay': 0.01 };
      writeFiles(folder, await exportTorch(model, [whole], { name: 'llama', training }));
      const trainer = createTrainer(model, { learningRate: 1e-3, lossScale: 1 });
      const losses: number[] = [];
      for (let n = 0; n < STEPS; n++) losses.push((await trainer.step(whole)).loss);
      trainer.release();
      const others = printedLosses(await runPython([...torchrun(1), '-m', 'llama.train'], folder));
      expect(others).toHaveLength(STEPS);
      for (const [n, loss] of losses.entries())
        expect(Math.abs(loss - others[n]), `${autocast}, step ${n}: ${losses} and ${others}`).toBeLessThan(
          tolerance,
        );
    }
  },
);

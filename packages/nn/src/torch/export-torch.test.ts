import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { cpuEngine } from '@tilewise/core/cpu';
import { expect, test } from 'vitest';
import { filesOf, tinyLlama } from '../../testing/tiny-model.ts';
import { loadModel } from '../load-model.ts';
import { createTrainer } from '../training/trainer.ts';
import { exportTorch } from './export-torch.ts';

const standard = join(homedir(), '.cache/tilewise-venv/bin/python');
/**
 * A Python that has PyTorch; without one, and without `TILEWISE_TORCH=full`, the runs are reported as
 * skipped.
 */
const python = process.env.TILEWISE_PYTHON ?? (existsSync(standard) ? standard : undefined);
const isFull = python !== undefined && process.env.TILEWISE_TORCH === 'full';

const STEPS = 6;
const tokens = [
  [1, 2, 3, 4, 5, 6, 7, 8],
  [3, 1, 4, 1, 5, 9, 2, 6],
];
const batch = { inputs: { tokens }, labels: tokens };

async function exported(): Promise<{
  readonly folder: string;
  readonly losses: readonly number[];
  readonly model: string;
}> {
  const model = await loadModel(filesOf(tinyLlama), { engine: cpuEngine() });
  const training = { steps: STEPS, lr: 1e-3, betas: '0.9,0.999', clip: 1, 'weight-decay': 0.01 };
  const files = await exportTorch(model, [batch], { name: 'llama', training });
  const folder = mkdtempSync(join(tmpdir(), 'tilewise-llama-'));
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  const trainer = createTrainer(model, { learningRate: 1e-3 });
  const losses: number[] = [];
  for (let n = 0; n < STEPS; n++) losses.push((await trainer.step(batch)).loss);
  trainer.release();
  return { folder, losses, model: String(files['llama/model.py']) };
}

test('a model is a module of at most 500 lines, with its weights under their names', async () => {
  const { model } = await exported();
  expect(model.split('\n').length).toBeLessThanOrEqual(500);
  expect(model).toContain('self.get_parameter("model.layers.1.mlp.down_proj.weight")');
});

test.skipIf(!isFull)(
  'a model trains in PyTorch as here, on one process and on ranks',
  { timeout: 600_000 },
  async () => {
    const { folder, losses } = await exported();
    const train = async (ranks: number, ...args: readonly string[]): Promise<number[]> => {
      const launch =
        ranks === 1 ? [] : ['-m', 'torch.distributed.run', '--standalone', `--nproc-per-node=${ranks}`];
      const env = { ...process.env, OMP_NUM_THREADS: '1' };
      const all = [...launch, '-m', 'llama.train', ...args];
      const { stdout } = await promisify(execFile)(python ?? 'python3', all, { cwd: folder, env });
      return [...stdout.matchAll(/loss (\S+)/g)].map(([, loss]) => Number(loss));
    };
    const distance = (a: readonly number[], b: readonly number[]): number =>
      Math.max(...a.map((loss, n) => Math.abs(loss - b[n])));
    const alone = await train(1);
    expect(alone).toHaveLength(STEPS);
    expect(distance(alone, losses)).toBeLessThanOrEqual(1e-4);
    expect(distance(alone, await train(2, '--mesh', '1x2'))).toBeLessThanOrEqual(1e-5);
    expect(distance(alone, await train(4, '--mesh', '2x2'))).toBeLessThanOrEqual(1e-5);
  },
);

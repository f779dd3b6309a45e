import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Tensor } from '@tilewise/core';
import { cpuEngine } from '@tilewise/core/cpu';
import { loadCheckpoint, type SavedRun } from '@tilewise/nn';
import { writeFolder } from '@tilewise/nn/checkpoint';
import { fullPython, printedLosses, python, runPython, torchrun } from '@tilewise/test-data/python';
import { beforeAll, describe, expect, test } from 'vitest';
import { recallDataset } from '../data/recall.ts';
import { createRun } from '../run.ts';

type NamedTensors = ReadonlyMap<string, Tensor>;
const load = (name: string): Promise<SavedRun> => loadCheckpoint(readFileSync(join(folder, name)));

const BEFORE = 3;
const STEPS = 6;
const config = { batch: 4, context: 18, warmup: 2 };
const folder = mkdtempSync(join(tmpdir(), 'tilewise-run-'));
/** The losses of the run here, and of the same run in PyTorch on one process. */
const losses: number[] = [];
/** The tensors of the run here after these steps. */
let after: NamedTensors = new Map();
/** The loss of the step after these. */
let next = 0;
let alone: Promise<number[]> | undefined;
const lossesAlone = (): Promise<number[]> => {
  alone ??= train(1, '--save', join(folder, 'end.safetensors'));
  return alone;
};

/** Trains in PyTorch, on ranks of torchrun or alone; returns the losses. */
async function train(ranks: number, ...args: readonly string[]): Promise<number[]> {
  return run(ranks, ['-m', 'recall.train'], args);
}

/** Runs a module or a script, as `train` does. */
async function run(ranks: number, what: readonly string[], args: readonly string[]): Promise<number[]> {
  const steps = ['--steps', `${BEFORE + STEPS}`];
  return printedLosses(await runPython([...torchrun(ranks), ...what, ...steps, ...args], folder));
}

function expectClose(found: readonly number[], wanted: readonly number[], limit: number): void {
  expect(found).toHaveLength(wanted.length);
  for (const [n, loss] of wanted.entries()) expect(Math.abs(found[n] - loss)).toBeLessThanOrEqual(limit);
}

/** The largest difference between AdamW's moving averages of gradients. */
function distance(found: NamedTensors, wanted: NamedTensors): number {
  const names = [...wanted.keys()].filter(name => name.startsWith('adamw.first.'));
  expect(names.length).toBeGreaterThan(10);
  return Math.max(
    ...names.flatMap(name => {
      const values = found.get(name)?.toFloat64() ?? [Number.NaN];
      return [...(wanted.get(name)?.toFloat64() ?? [])].map((x, n) => Math.abs(x - values[n]));
    }),
  );
}

describe.skipIf(python === undefined)('a run that continues in PyTorch', { timeout: 600_000 }, () => {
  beforeAll(async () => {
    const data = recallDataset();
    const here = createRun({ engine: cpuEngine(), data, config, seed: 5 });
    for (let n = 0; n < BEFORE; n++) await here.step();
    await writeFolder(folder, await here.exportTorch(STEPS));
    for (let n = 0; n < STEPS; n++) losses.push((await here.step()).loss);
    after = (await loadCheckpoint(await here.save())).tensors;
    next = (await here.step()).loss;
    here.release();
  }, 120_000);

  test('has the same losses as here, with dropout, the moments of AdamW and clipping', async () => {
    expectClose(await lossesAlone(), losses, 1e-4);
    const { tensors, steps } = await load('end.safetensors');
    expect(steps).toBe(BEFORE + STEPS);
    // The moving averages of the gradients of all steps, equal to those of the run here.
    expect(distance(tensors, after)).toBeLessThanOrEqual(1e-4);
  });

  /**
   * Asserts that a run from a file that PyTorch saved continues here with the loss of an uninterrupted run.
   */
  async function expectBack(file: string): Promise<void> {
    const from = await load(file);
    const back = createRun({ engine: cpuEngine(), data: recallDataset(), config, seed: 5, from });
    expect(Math.abs((await back.step()).loss - next)).toBeLessThanOrEqual(1e-4);
    back.release();
  }

  test('comes back: a run that PyTorch saved continues here', async () => {
    await lossesAlone();
    await expectBack('end.safetensors');
  });

  test.skipIf(fullPython === undefined).each<[ranks: number, args: string]>([
    [2, '--mesh 1x2'],
    [4, '--mesh 1x4'],
    [4, '--mesh 2x2'],
    [2, '--mesh 2x1'],
    [2, '--mesh 1x2 --order contiguous'],
    [2, '--mesh 1x2 --parallel ddp'],
    [4, '--mesh 2x2 --parallel fsdp'],
  ])('%i ranks with %s have the same losses', async (ranks, args) => {
    expectClose(await train(ranks, ...args.split(' ')), await lossesAlone(), 1e-5);
  });

  test.skipIf(fullPython === undefined)('the gradients of a step are those of one process', async () => {
    const moments = async (ranks: number, ...args: readonly string[]): Promise<NamedTensors> => {
      const file = `step-${ranks}.safetensors`;
      await train(ranks, '--steps', `${BEFORE + 1}`, '--save', join(folder, file), ...args);
      return (await load(file)).tensors;
    };
    // A step adds a tenth of its gradients.
    expect(distance(await moments(4, '--mesh', '2x2'), await moments(1))).toBeLessThanOrEqual(1e-6);
  });

  test.skipIf(fullPython === undefined)(
    'a checkpoint of two ranks continues with four, then with one, and then here',
    async () => {
      const dir = join(folder, 'checkpoints');
      const begin = await train(2, '--mesh', '1x2', '--dir', dir, '--steps', `${BEFORE + 2}`);
      const middle = await train(4, '--mesh', '2x2', '--dir', dir, '--steps', `${BEFORE + 4}`);
      const end = await train(1, '--dir', dir, '--save', join(folder, 'chain.safetensors'));
      expect([begin, middle, end].map(({ length }) => length)).toEqual([2, 2, STEPS - 4]);
      expectClose([...begin, ...middle, ...end], await lossesAlone(), 1e-6);
      await expectBack('chain.safetensors');
    },
  );

  test.skipIf(fullPython === undefined)(
    'the same mesh twice gives the same losses and parameters, bit for bit',
    async () => {
      const found: [losses: readonly number[], tensors: Buffer][] = [];
      for (const name of ['once', 'twice']) {
        const file = join(folder, `${name}.safetensors`);
        found.push([await train(2, '--mesh', '1x2', '--save', file), readFileSync(file)]);
      }
      expect(found[0][0]).toEqual(found[1][0]);
      expect(found[0][1].equals(found[1][1])).toBe(true);
    },
  );

  test.skipIf(fullPython === undefined)(
    'masks drawn as if each rank had the first batch entries give other losses',
    async () => {
      const script = `import recall.parallel
recall.parallel.Place.first = property(lambda place: 0)
import recall.train
recall.train.main()
`;
      await writeFolder(folder, { 'shifted.py': script });
      const shifted = await run(4, ['shifted.py'], ['--mesh', '2x2']);
      const whole = await lossesAlone();
      expect(Math.max(...shifted.map((loss, n) => Math.abs(loss - whole[n])))).toBeGreaterThan(1e-2);
    },
  );

  test.skipIf(fullPython === undefined)(
    'continues from its checkpoint when a rank is killed, and ends as if none had been',
    async () => {
      const script = `import os, signal
from recall import train

def killed(step, loss):
    if step == ${BEFORE + 3} and os.environ["RANK"] == "1" and os.environ["TORCHELASTIC_RESTART_COUNT"] == "0":
        os.kill(os.getpid(), signal.SIGKILL)

train.main(report=killed)
`;
      await writeFolder(folder, { 'killed.py': script });
      const dir = join(folder, 'checkpoints-killed');
      const found = await run(2, ['killed.py'], ['--mesh', '1x2', '--dir', dir, '--every', '2']);
      const whole = await lossesAlone();
      // Steps since the last checkpoint are repeated.
      expect(found.length).toBeGreaterThan(whole.length - 1);
      expectClose(found.slice(-3), whole.slice(-3), 1e-6);
    },
  );
});

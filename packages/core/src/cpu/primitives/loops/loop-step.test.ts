import { expect, test } from 'vitest';
import { input } from '../../../primitive/element.ts';
import { createEngineKernels } from '../../kernels/engine-kernels.ts';
import { type LoopOutput, loopInputs, planLoop } from '../../loops/plan/plan-loop.ts';
import type { Step } from '../../steps/step.ts';
import { loopStep } from './loop-step.ts';

const kernels = createEngineKernels('wasm-simd');

/** The loop that adds up a matrix, along its rows or along its columns. */
function sumStep(rows: number, columns: number, along: 'rows' | 'columns'): Step {
  const domain = [rows, columns];
  const matrix = { dtype: 'f32', shape: domain, strides: [columns, 1] } as const;
  const strides = along === 'rows' ? [1, 0] : [0, 1];
  const output: LoopOutput = { kind: 'sum', format: 'f64', strides };
  const plan = planLoop(input(0, 'f32'), loopInputs([matrix]), domain, output);
  if (!plan) throw new Error('the kernels must run it');
  kernels.memory.reset();
  const [from, to] = [rows * columns, 2 * rows * columns].map(size => kernels.memory.scratch(size).at);
  return loopStep(plan, kernels, to, [from]);
}

const tasks = (step: Step, threads: number): number | undefined =>
  step.tasks(threads, words => kernels.memory.scratch(words).at)?.length;

test('rows are divided among threads if their parts are not too short', () => {
  expect(tasks(sumStep(768, 32, 'columns'), 1)).toBe(1);
  expect(tasks(sumStep(768, 32, 'columns'), 2)).toBeUndefined();
  expect(tasks(sumStep(768, 64, 'columns'), 2)).toBe(2);
  expect(tasks(sumStep(768, 64, 'columns'), 4)).toBeUndefined();
  expect(tasks(sumStep(768, 32, 'rows'), 2)).toBe(2);
});

test('sums of rows, in which each addition waits for the last, are shared from fewer elements on', () => {
  expect(sumStep(768, 32, 'rows').size).toBeGreaterThan(4 * sumStep(768, 32, 'columns').size);
});

/** The loop that copies the rows of (runs, rows, 64) to an output with these strides. */
function copyStep(runs: number, rows: number, strides: readonly number[]): Step {
  const domain = [runs, rows, 64];
  const matrix = { dtype: 'f32', shape: domain, strides: [rows * 64, 64, 1] } as const;
  const output: LoopOutput = { kind: 'store', format: 'f32', strides };
  const plan = planLoop(input(0, 'f32'), loopInputs([matrix]), domain, output);
  if (!plan) throw new Error('the kernels must run it');
  kernels.memory.reset();
  const [from, to] = [0, 1].map(() => kernels.memory.scratch(2 * runs * rows * 64).at);
  return loopStep(plan, kernels, to, [from]);
}

test('each thread gets whole runs of a loop with dimensions outside its rows', () => {
  // Rows of 64 of 128 numbers: runs and rows cannot be one dimension.
  const step = copyStep(6, 8, [8 * 128 + 64, 128, 1]);
  const runs = step.tasks(2, words => kernels.memory.scratch(words).at)?.map(([, , , count]) => count);
  expect(runs).toEqual([3, 3]);
  const few = copyStep(1, 8, [8 * 128 + 64, 128, 1]);
  expect(few.tasks(2, words => kernels.memory.scratch(words).at)?.map(([, , , count]) => count)).toEqual([
    1, 1,
  ]);
});

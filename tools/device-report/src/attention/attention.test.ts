import { Tensor } from '@tilewise/core';
import { createContext, type GpuContext } from '@tilewise/webgpu';
import { openGpu } from '@tilewise/webgpu-host';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { errorOf, isRight } from './accuracy.ts';
import { measureOnCpu } from './cpu-rows.ts';
import { gpuMachine, measureOnGpu } from './gpu-rows.ts';
import { type Measurement, type MeasureSettings, measuredShapes } from './measurement.ts';

const config: MeasureSettings = { engine: 'auto', size: 'small', D: 32, causal: true, dtype: 'f32' };
const named = ({ implementation, pass, failure }: Measurement): string =>
  `${implementation} ${pass} ${failure ?? 'ok'}`;

describe('a result', () => {
  const tensor = (...values: number[]) => Tensor.from(values, [values.length]);

  it('is off by its largest difference, relative to the largest number', () => {
    expect(errorOf(tensor(1, 2.5, -4), tensor(1, 2, -4))).toBe(0.125);
  });

  it('that is NaN is never right', () => {
    expect(isRight(errorOf(tensor(Number.NaN, 1), tensor(1, 1)), 'f32')).toBe(false);
    expect(isRight(errorOf(tensor(1, Number.NaN), tensor(1, 1)), 'bf16')).toBe(false);
  });
});

it('sequences are short if a CPU emulates the GPU', () => {
  const longest = (software: boolean) =>
    measuredShapes('auto', { engine: 'webgpu', software }).lengths.at(-1) ?? 0;
  expect(longest(true)).toBeLessThan(longest(false));
});

describe('on the GPU', () => {
  let ctx: GpuContext;
  beforeAll(async () => {
    const { adapter } = await openGpu();
    ctx = await createContext({ adapter });
  });
  afterAll(() => ctx?.destroy());

  it('both versions are right and timed, and flash needs less memory', async () => {
    const rows: Measurement[] = [];
    for await (const row of measureOnGpu(ctx, config, 1, 64)) rows.push(row);
    expect(rows.map(named)).toEqual([
      'flash forward ok',
      'flash backward ok',
      'naive forward ok',
      'naive backward ok',
    ]);
    for (const { ms, flops } of rows) {
      expect(ms).toBeGreaterThan(0);
      expect(flops).toBeGreaterThan(0);
    }
    const [flash, , naive] = rows;
    expect(flash?.bytes).toBeLessThan(naive?.bytes ?? 0);
    expect(gpuMachine(ctx, true).description).not.toBe('');
  }, 60_000);
});

it('on the CPU results are right and timed', async () => {
  const rows: Measurement[] = [];
  for await (const row of measureOnCpu({ ...config, dtype: 'bf16' }, 2, 48)) rows.push(row);
  expect(rows.map(named)).toEqual(['flash forward ok', 'flash backward ok']);
});

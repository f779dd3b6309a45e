import { expect, test } from 'vitest';
import type { MeasureOptions } from './measurements.ts';
import { planMeasurement } from './plan.ts';
import type { Step } from './step.ts';

const toggles = 'vulkan_enable_f16_on_nvidia,allow_unsafe_apis';
const torch = 'torch.py';
const options: MeasureOptions = {
  ...{ app: 'app', vectors: 'vectors', folder: 'results', toggles, tiny: false },
};
const plan = (more: Partial<MeasureOptions> = {}): Step[] => planMeasurement({ ...options, ...more });
const names = (more: Partial<MeasureOptions>): string[] => plan(more).map(({ name }) => name);
const step = (name: string, more: Partial<MeasureOptions> = {}): Step | undefined =>
  plan(more).find(one => one.name === name);

test('each step has its own name, and the names of steps with toggles say so', () => {
  const steps = plan({ torch });
  expect(new Set(steps.map(({ name }) => name)).size).toBe(steps.length);
  for (const { name, env } of steps)
    expect(name.startsWith('toggled-')).toBe(env?.TILEWISE_TOGGLES === toggles);
});

test('without toggles nothing is measured twice', () => {
  const plain = names({ toggles: '' });
  expect(plain.filter(name => name.startsWith('toggled'))).toEqual([]);
  expect(new Set(plain).size).toBe(plain.length);
  expect(plain).toContain('attention-f16');
});

test('steps that measure targets come first, before those for which the time may not suffice', () => {
  expect(names({ torch }).slice(0, 4)).toEqual(['doctor', 'attention-f32', 'toggled-attention-f16', 'torch']);
});

test('tiles of matrices, which are for f16, are checked against vectors too', () => {
  const { args = [] } = step('toggled-conformance-f16') ?? {};
  expect(args[args.indexOf('--dtype') + 1]).toBe('f16');
});

test('the products of graphs are measured in f16 with matrices, and in f32 without', () => {
  expect(names({})).toEqual(expect.arrayContaining(['toggled-matmul-f16', 'matmul-f32']));
  expect(step('toggled-matmul-f16')?.args).toEqual(
    expect.arrayContaining(['--size', '4096', '--dtype', 'f16']),
  );
});

test('training is measured in f32, and in f16 with matrices', () => {
  expect(step('toggled-train')?.args).toEqual(expect.arrayContaining(['--autocast', 'f16']));
});

test('f16 is also measured without matrices, by leaving out the toggle that they need', () => {
  const { env } = step('attention-f16-without-matrices') ?? {};
  expect(env).toEqual({ TILEWISE_TOGGLES: 'vulkan_enable_f16_on_nvidia' });
});

test("dropout masks that PyTorch has drawn are compared with WebGPU's", () => {
  expect(step('dropout-torch', { torchDropout: 'masks.py' })?.args).toEqual(['masks.py', 'results/dropout']);
  expect(step('dropout-webgpu', { torchDropout: 'masks.py' })?.args).toContain('results/dropout');
  expect(names({ torch }).filter(name => name.startsWith('dropout'))).toEqual([]);
});

test('PyTorch is measured on the same shape if it is installed', () => {
  const shapesOf = (name: string): string | undefined => {
    const { args = [] } = step(name, { torch }) ?? {};
    return args[args.indexOf('--shapes') + 1];
  };
  expect(shapesOf('torch')).toBe(shapesOf('toggled-attention-f16'));
  expect(names({}).filter(name => name.startsWith('torch'))).toEqual([]);
});

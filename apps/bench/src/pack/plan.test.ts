import { expect, test } from 'vitest';
import { type MeasureOptions, planMeasurement } from './plan.ts';

const options: MeasureOptions = { app: 'app', vectors: 'vectors', toggles: 'a,b', tiny: false };
const names = (more: Partial<MeasureOptions>): string[] =>
  planMeasurement({ ...options, ...more }).map(({ name }) => name);

test('what toggles change is measured twice, under names of its own', () => {
  const steps = planMeasurement(options);
  expect(new Set(steps.map(({ name }) => name)).size).toBe(steps.length);
  const toggled = steps.filter(({ env }) => env?.TILEWISE_TOGGLES === 'a,b');
  expect(toggled.map(({ name }) => name)).toContain('toggled-attention-f16');
  for (const { name, args } of toggled.filter(one => !one.name.endsWith('-table'))) {
    expect(steps.find(step => step.name === name.replace('toggled-', ''))?.args).toEqual(args);
  }
  expect(names({ toggles: '' }).filter(name => name.startsWith('toggled'))).toEqual([]);
});

test('PyTorch is measured on the same shape, where there is one', () => {
  const steps = planMeasurement({ ...options, torch: 'torch.py' });
  const shapesOf = (name: string): string | undefined => {
    const args = steps.find(step => step.name === name)?.args ?? [];
    return args[args.indexOf('--shapes') + 1];
  };
  expect(shapesOf('torch')).toBe(shapesOf('attention-f16'));
  expect(names({}).filter(name => name.startsWith('torch'))).toEqual([]);
});

import { expect, test } from 'vitest';
import { joinRuns } from './join.ts';

const line = (engine: string, pass: string, ms: number | string, more = {}): string =>
  JSON.stringify({
    ...{ suite: 'attention', engine, pass, 'B×H×S×D': '1×2×64×32', dtype: 'f32', mask: 'full', ms },
    ...{ 'TFLOP/s': 1, ...more },
  });

test('the same work in two runs is one row, with the ratio of the times', () => {
  const ours = [line('webgpu', 'forward', 2), line('webgpu', 'backward', 6), ''];
  const torch = [
    line('torch flash', 'forward', 1),
    line('torch math', 'forward', 8),
    line('torch math', 'backward', 12),
  ];
  expect(joinRuns(ours, torch, 'webgpu')).toMatchObject([
    { pass: 'forward', ms: 2, other: 'torch flash', 'its ms': 1, 'times as long': 0.5 },
    { pass: 'forward', other: 'torch math', 'times as long': 4 },
    { pass: 'backward', other: 'torch math', 'times as long': 2 },
  ]);
});

test('other work, other suites and failed rows are left out', () => {
  const ours = [line('webgpu', 'forward', 2), line('matmul 512³', 'peak', 1)];
  const others = [
    line('torch flash', 'forward', '', { note: 'no kernel' }),
    line('torch flash', 'forward', 1, { dtype: 'f16' }),
    line('torch flash', 'forward', 1, { suite: 'decode' }),
  ];
  expect(joinRuns(ours, others)).toEqual([]);
});

test('rows with toggles are compared separately, and an incomplete line is ignored', () => {
  const ours = [
    line('webgpu', 'forward', 4, { toggles: '' }),
    line('webgpu', 'forward', 2, { toggles: 'x' }),
    '{"suite":"att',
  ];
  expect(joinRuns(ours, [line('torch flash', 'forward', 1)])).toMatchObject([
    { ms: 4, 'times as long': 0.25, toggles: '' },
    { ms: 2, 'times as long': 0.5, toggles: 'x' },
  ]);
});

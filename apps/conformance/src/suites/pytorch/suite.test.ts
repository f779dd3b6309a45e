import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Engine, Tensor } from '@tilewise/core';
import { cpuEngine } from '@tilewise/core/cpu';
import { fixturesDir, sharedDir } from '@tilewise/test-data';
import { afterAll, describe, expect, test } from 'vitest';
import type { CaseResult, Counts } from '../../cases/case.ts';
import { conformance } from '../../command/conformance.ts';
import { suites } from '../index.ts';
import { groupRunners } from './groups/index.ts';
import { runPoint } from './run/run-point.ts';

const folder = mkdtempSync(join(tmpdir(), 'tilewise-pytorch-'));
afterAll(() => rmSync(folder, { recursive: true }));

async function run(file: string, ...args: string[]) {
  const lines: string[] = [];
  const code = await conformance(['pytorch', '--cases', file, '--engine', 'cpu', ...args, '--json'], suites, {
    out: line => lines.push(line),
    error: line => lines.push(JSON.stringify(line)),
  });
  const parsed = lines.map(line => JSON.parse(line));
  const counts = parsed.pop()?.counts as Counts;
  return { code, counts, results: parsed as CaseResult[] };
}

function fileOf(...conformance: object[]): string {
  const file = join(folder, 'cases.json');
  writeFileSync(file, JSON.stringify({ conformance }));
  return file;
}

const rows = {
  id: 'torch.fully_masked_rows',
  grid: { B: [1], H: [1], S: [32, 64], D: [16], dtype: ['f32', 'f16', 'f64'] },
  tol: { rule: 'assert_close', out: [5e-3, 0], grads: [3e-3, 0] },
};

test('points of a grid are drawn, and the report says how many are not', async () => {
  const { code, results } = await run(fileOf(rows), '--points', '3');
  expect(code).toBe(0);
  // Float64 is not a storage dtype, so such points are not supported.
  expect(results.map(({ status }) => status)).toEqual(['pass', 'pass', 'pass', 'skipped']);
  expect(results[0].reason).toContain('torch.fully_masked_rows at {');
  expect(results[3].reason).toMatch(/^\d of 6 points are not drawn \(--points 3\)$/);
});

test('an unknown or missing part of a group fails', async () => {
  const { code, results } = await run(
    fileOf(
      { ...rows, grid: { ...rows.grid, rotary: true } },
      { ...rows, grid: { ...rows.grid, H: [2] } },
      { ...rows, grid: { ...rows.grid, S: [] } },
      { ...rows, tol: { ...rows.tol, out: '5e-3' } },
      { ...rows, grid: { ...rows.grid, dtype: ['f64'] } },
    ),
    '--points',
    '1',
  );
  expect(code).toBe(1);
  const said = results.filter(({ status }) => status !== 'skipped').map(({ reason }) => reason);
  expect(said).toEqual([
    expect.stringMatching(/^the axis rotary is not known/),
    expect.stringMatching(/^the axis H is not known/),
    'the axis S has no value',
    'tol.out must be [absolute, relative], got "5e-3"',
    expect.stringMatching(/^none of its 2 points can run/),
  ]);
});

test('unknown groups, values and rules fail', async () => {
  const { code, results } = await run(
    fileOf(
      { id: 'torch.tomorrow', grid: {} },
      { ...rows, grid: { ...rows.grid, dtype: ['f4'] } },
      { ...rows, tol: { rule: 'looksGood' } },
    ),
    '--points',
    '1',
  );
  expect(code).toBe(1);
  expect(results.filter(({ status }) => status === 'fail').map(({ reason }) => reason)).toEqual([
    'no group of this name is known to the runner',
    'the axis dtype must be a dtype, got "f4"',
    "Error: the rule of tolerance 'looksGood' is not known to the runner",
  ]);
});

describe('a point with a wrong result fails', () => {
  const runner = groupRunners['torch.fully_masked_rows'];
  const point = 'make' in runner ? runner.make({ S: 32, D: 16, dtype: 'f32' }, 'small') : null;
  const tol = { rule: 'assert_close', fudge: {}, pairs: { out: [5e-3, 0], grads: [3e-3, 0] } } as const;

  const sound = cpuEngine();
  const off = (by: number, ...place: number[]): Engine<Tensor> => ({
    ...sound,
    sdpa: async (...args) => {
      const results = await sound.sdpa(...args);
      results.o.set(results.o.get(...place) + by, ...place);
      return results;
    },
  });

  test.each([
    ['by more than its tolerance', 0.1, [0, 0, 1, 3], /^o is off by 1\.00e-1/],
    ['by anything in a row that sees no key', 1e-6, [0, 0, 4, 3], /^o holds .* in a row that sees no key/],
    ['that is NaN', NaN, [0, 0, 1, 3], /^o holds NaN/],
  ])('%s', async (_, by, place, reason) => {
    if (!point) throw new Error('the group has no such point');
    expect(await runPoint(off(by, ...place), point, tol, 1)).toMatchObject({
      status: 'fail',
      reason: expect.stringMatching(reason),
    });
    expect(await runPoint(sound, point, tol, 1)).toMatchObject({ status: 'pass' });
  });
});

test('the committed block masks are equal', async () => {
  const { code, results } = await run(
    join(fixturesDir(), 'pytorch', 'block-masks.json'),
    '--filter',
    '129x257',
  );
  expect(results.filter(({ status }) => status === 'fail')).toEqual([]);
  expect(results.filter(({ status }) => status === 'pass').length).toBeGreaterThan(0);
  expect(code).toBe(0);
});

const cases = join(sharedDir() ?? '', 'conformance', 'pytorch', 'cases.json');

test.skipIf(!existsSync(cases))(
  'a point of every group passes, if it can be run (needs the full conformance data)',
  async () => {
    const { code, counts, results } = await run(cases, '--points', '1', '--max-gflop', '0.03');
    expect(results.filter(({ status }) => status === 'fail')).toEqual([]);
    expect(code).toBe(0);
    expect(counts.pass).toBeGreaterThan(15);
  },
  60_000,
);

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sdpa } from '@tilewise/core/reference';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { WrongResult } from '../suite/suite.ts';
import type { Row } from '../suite/table.ts';
import { attentionCase } from '../workloads/attention/attention-case.ts';
import { Comparison } from './comparison.ts';

const of = attentionCase([1, 1, 8, 4], 'f32', true);
const { o, lse } = sdpa(of.q, of.k, of.v, { causal: true });
const right = `{ shape: [1, 1, 8, 4], values: new Float32Array([${o.toFloat32().join()}]) }`;
const zero = '{ shape: [1, 1, 8, 4], values: new Float32Array(32) }';

// Each test starts two processes.
vi.setConfig({ testTimeout: 30_000 });

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tilewise-comparison-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/**
 * A comparison of two processes that answer with these expressions: our implementation and naive attention.
 */
async function comparison(
  tilewise: Readonly<Record<string, string>>,
  naive: Readonly<Record<string, string>>,
): Promise<Row[]> {
  const answers = (given: Readonly<Record<string, string>>): string =>
    Object.entries({ introduce: '{ note: "" }', open: '["forward"]', close: '0', ...given })
      .map(([question, answer]) => `${question}: () => (${answer})`)
      .join();
  const program = join(folder, 'program.mjs');
  await writeFile(
    program,
    `const { name } = JSON.parse(process.argv[3]);
     const answers = { tilewise: { ${answers(tilewise)} }, naive: { ${answers(naive)} } }[name];
     process.on('message', ({ question }) => process.send({ value: answers[question]() }));
     process.on('disconnect', () => process.exit());`,
  );
  const held = new Comparison(undefined, { timeout: 20, device: {}, program });
  try {
    return await held.run(of, { o, lse }, { peak: 1, label: { adapter: 'none' }, progress() {} });
  } finally {
    held.end();
  }
}

const run = (ms: number): string => `{ ms: ${ms}, dispatches: 3 }`;

test('if Tilewise fails while it is timed, the others are not compared', async () => {
  const rows = await comparison(
    { results: `[${right}]`, run: 'process.exit(3)' },
    { results: `[${right}]`, run: run(5) },
  );
  expect(rows).toMatchObject([
    {
      engine: 'tilewise',
      ms: '',
      '× tilewise': '',
      note: expect.stringContaining('failed: its process ended'),
    },
    { engine: 'naive', ms: 5, '× tilewise': '', note: '' },
  ]);
});

test('a row has the times and the errors, and marks a wrong result', async () => {
  const rows = await comparison(
    { results: `[${right}]`, run: run(2) },
    { results: `[${zero}]`, run: run(5) },
  );
  expect(rows).toMatchObject([
    { engine: 'tilewise', pass: 'forward', ms: 2, '× tilewise': 1, dispatches: 3, note: '', adapter: 'none' },
    { engine: 'naive', pass: 'forward', ms: 5, '× tilewise': 2.5, note: 'wrong' },
  ]);
  expect(rows[0].error).toBeLessThan(1e-6);
  expect(rows[1].error).toBeGreaterThan(0.1);
});

test('a wrong result of Tilewise ends the comparison', async () => {
  const wrong = comparison({ results: `[${zero}]`, run: run(2) }, { open: '"no"' });
  await expect(wrong).rejects.toThrow(WrongResult);
});

const own = { results: `[${right}]`, run: run(2) };

test('an implementation that refuses a case has a row with the reason', async () => {
  expect(await comparison(own, { open: '"f16 only"' })).toMatchObject([
    { engine: 'tilewise', ms: 2 },
    { engine: 'naive', ms: '', note: 'cannot run this: f16 only' },
  ]);
});

test('an implementation that crashes while it is timed has a row, and the others are timed', async () => {
  expect(await comparison(own, { results: `[${right}]`, run: 'process.exit(9)' })).toMatchObject([
    { engine: 'tilewise', ms: 2 },
    { engine: 'naive', ms: '', note: 'failed: its process ended with 9' },
  ]);
});

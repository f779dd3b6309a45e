import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sharedDir } from '@tilewise/test-data';
import { afterAll, describe, expect, test } from 'vitest';
import { tinyCase } from '../../../testing/tiny-case.ts';
import type { CaseResult, Counts } from '../../cases/case.ts';
import { conformance } from '../../command/conformance.ts';
import { suites } from '../index.ts';
import { concreteCalls } from './concrete/concrete.ts';
import { gflop } from './concrete/gflop.ts';
import { parseCase } from './format/case-format.ts';

const folder = mkdtempSync(join(tmpdir(), 'tilewise-cudnn-'));
afterAll(() => rmSync(folder, { recursive: true }));

function fileOf(content: unknown): string {
  const file = join(folder, 'cases.json');
  writeFileSync(file, JSON.stringify(content));
  return file;
}

async function run(file: string, ...args: string[]) {
  const lines: string[] = [];
  const errors: string[] = [];
  const code = await conformance(['cudnn', '--cases', file, ...args, '--json'], suites, {
    out: line => lines.push(line),
    error: line => errors.push(line),
  });
  const parsed = lines.map(line => JSON.parse(line));
  const counts = parsed.pop()?.counts as Counts;
  return { code, errors, counts, results: parsed as CaseResult[] };
}

test('a file is a list of cases, or an object of lists', async () => {
  const listed = await run(fileOf([tinyCase(), tinyCase({ id: 'other' })]), '--engine', 'cpu');
  expect(listed).toMatchObject({ code: 0, counts: { pass: 2, fail: 0 } });
  const named = await run(fileOf({ meta: { n: 1 }, explicit: [tinyCase()], sample: [tinyCase()] }));
  expect(named).toMatchObject({ code: 0, counts: { pass: 2, fail: 0 } });
});

test('a case that cannot be read fails, by name and with the reason', async () => {
  const { code, results } = await run(
    fileOf([tinyCase({ flags: { rotary: true } }), { op: 'sdpa_fwd', dtype: 1 }]),
  );
  expect(code).toBe(1);
  expect(results).toMatchObject([
    { case: 'tiny', status: 'fail', reason: 'the flag rotary is not known to the runner' },
    { case: '#1', status: 'fail', reason: 'dtype 1 is not known' },
  ]);
});

test('cases of more work are skipped and say so', async () => {
  const { code, results } = await run(fileOf([tinyCase()]), '--max-gflop', '0.00001');
  expect(code).toBe(0);
  expect(results[0]).toMatchObject({
    status: 'skipped',
    reason: 'it takes 0.0000691 GFLOP, more than --max-gflop 0.00001',
  });
});

test('a case with exactly the work of a limit is run by --max-gflop and skipped by --min-gflop', async () => {
  const work = String(gflop({ dims: concreteCalls(parseCase(tinyCase()))[0].dims, backward: true }));
  const status = async (...limit: string[]) => (await run(fileOf([tinyCase()]), ...limit)).results[0].status;
  expect(await status('--max-gflop', work)).toBe('pass');
  expect(await status('--min-gflop', work)).toBe('skipped');
});

test.each([
  ['a file that does not exist', ['--cases', '/nowhere.json'], '--cases: there is no file /nowhere.json.'],
  ['a limit that is not a number', ['--max-gflop', 'lots'], "--max-gflop must be a number, got 'lots'."],
])('%s ends with 2', async (_, args, message) => {
  const { code, errors } = await run(fileOf([tinyCase()]), ...args);
  expect(code).toBe(2);
  expect(errors[0]).toContain(message);
});

test('webgpu keeps the layouts of a case, writes nothing else, and returns the dropout mask', async () => {
  const masked = tinyCase({ id: 'mask', op: 'sdpa_fwd', flags: { dropout: 0.1, rng_dump: true } });
  const { code, results } = await run(fileOf([tinyCase(), masked]), '--engine', 'webgpu');
  const passed = ['pass', expect.any(String)];
  expect(results.map(({ status, reason }) => [status, reason])).toEqual([passed, passed]);
  expect(code).toBe(0);
}, 180_000);

const data = join(sharedDir() ?? '', 'conformance', 'cudnn');

describe.skipIf(!existsSync(data))("cuDNN's own cases on the CPU (needs the full conformance data)", () => {
  test.each([
    ['random.json', '0.003', []],
    ['explicit.json', '0.1', ['--filter', 'neg_']],
  ])(
    '%s up to %s GFLOP: none fails',
    async (file, most, more) => {
      const { code, results, counts } = await run(
        join(data, file),
        '--engine',
        'cpu',
        '--max-gflop',
        most,
        ...more,
      );
      expect(results.filter(({ status }) => status === 'fail' || status === 'unsupported')).toEqual([]);
      expect(code).toBe(0);
      expect(counts.pass).toBeGreaterThan(20);
    },
    60_000,
  );
});

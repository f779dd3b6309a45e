import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Report } from './report.ts';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tilewise-report-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const row = (engine: string, ms: number): string =>
  JSON.stringify({
    ...{ suite: 'attention', engine, pass: 'forward', 'B×H×S×D': '1×1×8×4', dtype: 'f16', mask: 'full', ms },
    ...{ 'TFLOP/s': 1 / ms },
  });

test('after every step, the report has all output, and the ratios for which both times are measured', async () => {
  const report = new Report(folder);
  const fileOf = (name: string): Promise<string> => readFile(join(folder, name), 'utf8');
  await writeFile(join(folder, 'toggled-attention-f16.out'), `${row('webgpu', 2)}\n`);
  await writeFile(join(folder, 'toggled-attention-f16.log'), `${'first\n'.repeat(30)}last\n`);
  report.add({ step: 'toggled-attention-f16', seconds: 1, result: 'done' });
  expect(await fileOf('report.txt')).toMatch(
    /^=== toggled-attention-f16: done, 1.0 s\n\{.*\n--- (first\n){19}last\n$/,
  );
  expect(report.ratios()).toBe('');

  await writeFile(join(folder, 'torch.out'), `${row('torch flash', 1)}\n`);
  report.add({ step: 'torch', seconds: 3, result: 'ended after 3 s' });
  report.add({ step: 'tune-f16', seconds: 0, result: 'left out: no time' });
  expect(report.ratios()).toMatch(/torch flash/);
  expect(await fileOf('summary.txt')).toMatch(/tune-f16.*left out: no time[\s\S]*torch flash/);
});

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { attentionCase } from '../workloads/attention/attention-case.ts';
import { attentionPlans } from '../workloads/attention/attention-plans.ts';
import { openWebGpu } from './open-webgpu.ts';
import { traceOnce } from './trace-once.ts';

test('a trace has the kernels of plans that the clock times', { timeout: 120_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tilewise-trace-'));
  const file = join(folder, 'trace.json');
  try {
    const bench = await openWebGpu({ trace: file });
    const { forward, destroy } = attentionPlans(bench.ctx, attentionCase([1, 1, 8, 8], 'f32', true));
    await traceOnce(bench.ctx, [forward.encode]);
    destroy();
    await bench.close();
    expect(readFileSync(`${file}.txt`, 'utf8')).toMatch(/^kernel .*\nattention forward +1 /);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

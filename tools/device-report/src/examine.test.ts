import { openGpu } from '@tilewise/webgpu-host';
import { expect, test } from 'vitest';
import { type ExaminationEvent, examineDevice } from './examine.ts';
import { reportJson } from './report/device-report.ts';
import { parseReport } from './report/parse-report.ts';

const settings = { engine: 'auto', size: 'small', D: 32, causal: true, dtype: 'f32' } as const;

test('a GPU is checked, its peak is measured, and attention after it', async () => {
  const { gpu } = await openGpu();
  const events: ExaminationEvent[] = [];
  const report = await examineDevice(settings, { name: 'test', gpu }, event => events.push(event));
  const stages = events.flatMap(event => (event.kind === 'progress' ? [event.stage] : []));
  expect([...new Set(stages)]).toEqual(['checks', 'peak', 'speed']);
  expect(report.diagnosis.status).toMatch(/ok|slow/);
  expect(report.peak?.gigabytesPerSecond).toBeGreaterThan(0);
  expect(report.attention?.measurements).toHaveLength(12);
  expect(events.at(-2)).toEqual({ kind: 'report', report });
  expect(parseReport(reportJson(report))).toEqual(report);
}, 300_000);

test('without a GPU the CPU engine is measured, and the report says so', async () => {
  const report = await examineDevice({ ...settings, engine: 'cpu' }, { name: 'test' }, () => {});
  expect(report).toMatchObject({ peak: null, diagnosis: { status: 'missing' } });
  expect(report.attention?.machine.engine).toBe('cpu');
  expect(report.attention?.measurements).toHaveLength(6);
}, 60_000);

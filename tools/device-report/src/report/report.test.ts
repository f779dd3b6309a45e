import { InvalidArgumentError } from '@tilewise/core';
import { describe, expect, test } from 'vitest';
import type { Measurement } from '../attention/measurement.ts';
import { compareReports } from './compare-reports.ts';
import { type DeviceReport, reportJson } from './device-report.ts';
import { reportMarkdown } from './markdown.ts';
import { parseReport } from './parse-report.ts';
import { rooflineOf } from './roofline.ts';

const measurement = (ms: number, S = 512): Measurement => ({
  ...{ implementation: 'flash', pass: 'forward', heads: 8, S, flops: 4e9, bytes: 1e8, ms, error: 1e-6 },
});
const report: DeviceReport = {
  format: 'tilewise-device-report',
  version: 1,
  made: '2026-05-01T12:00:00.000Z',
  host: 'Node 24',
  diagnosis: {
    status: 'wrong',
    verdict: 'Attention is not right on this device.',
    source: 'navigator.gpu',
    adapter: {
      vendor: 'acme',
      architecture: 'one',
      device: '',
      description: 'Acme | <b>One</b>',
      software: false,
    },
    features: ['shader-f16'],
    limits: [{ name: 'maxBufferSize', value: 2 ** 30, guaranteed: 2 ** 28 }],
    variants: [{ name: 'mask and bias', enabled: false, reasons: ['needs 9 storage buffers'] }],
    checks: [
      { name: 'forward, f32', error: 1e-7, allowed: 1e-5, milliseconds: 3, failure: null },
      {
        name: 'backward, f32',
        error: Number.POSITIVE_INFINITY,
        allowed: 1e-5,
        milliseconds: 3,
        failure: 'lost',
      },
    ],
  },
  peak: {
    size: 512,
    matmuls: [
      { precision: 'f16', kernel: 'staged', tflops: 4 },
      { precision: 'f32', kernel: 'staged', tflops: 2 },
    ],
    gigabytesPerSecond: 100,
    clock: 'timestamps',
  },
  attention: {
    settings: { D: 64, dtype: 'f32', causal: true },
    machine: { engine: 'webgpu', description: 'Acme One', software: false, clock: 'timestamps' },
    measurements: [measurement(4), { ...measurement(0, 4096), ms: undefined, failure: 'too large' }],
  },
};
/** The report as parsed JSON, for tests that break it. */
const written = () => JSON.parse(reportJson(report));

describe('a report that is read again', () => {
  test('is the report that was written, with infinite errors', () => {
    expect(parseReport(reportJson(report))).toEqual(report);
  });

  test('may be the output of `doctor --json`', () => {
    const { diagnosis } = written();
    const read = parseReport(JSON.stringify(diagnosis));
    expect(read).toMatchObject({ diagnosis: report.diagnosis, peak: null, attention: null });
  });

  test('has only the requested parts', () => {
    const strange = { ...written(), extra: 1, toString: 'x' };
    expect(Object.keys(parseReport(JSON.stringify(strange)))).toEqual(Object.keys(report));
    const polluting = reportJson(report).replace('"host"', '"__proto__": {"made": 1}, "host"');
    expect(parseReport(polluting)).toEqual(report);
  });
});

describe('a file that is not a report is refused, and the error names the field', () => {
  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
  test.each([
    ['no JSON', 'hello', /^report must be JSON/],
    ['a list', '[]', /^report must be an object/],
    ['null', 'null', /^report must be an object/],
    ['deeply nested lists', deep, /^report must be/],
    ['another format', '{"format":"x","version":1}', /^report\.format must be one of/],
    ['a later version', JSON.stringify({ ...written(), version: 2 }), /^report\.version must be 1/],
    ['too long', ' '.repeat(2 ** 20 + 1), /^report must have at most 1048576/],
  ])('%s', (_, text, message) => {
    expect(() => parseReport(text)).toThrow(InvalidArgumentError);
    expect(() => parseReport(text)).toThrow(message);
  });

  test.each<[string, (broken: ReturnType<typeof written>) => void, RegExp]>([
    [
      'a speed that is a text',
      r => (r.peak.matmuls[0].tflops = '4'),
      /^report\.peak\.matmuls\[0\]\.tflops must/,
    ],
    ['a negative time', r => (r.attention.measurements[0].ms = -1), /measurements\[0\]\.ms must be a finite/],
    ['an unknown status', r => (r.diagnosis.status = 'fine'), /^report\.diagnosis\.status must be one of/],
    [
      'features without end',
      r => (r.diagnosis.features = Array(5000).fill('x')),
      /features must be a list of at/,
    ],
    [
      'a name without end',
      r => (r.diagnosis.adapter.vendor = 'x'.repeat(5000)),
      /vendor must be a string of/,
    ],
  ])('%s', (_, break_, message) => {
    const broken = written();
    break_(broken);
    expect(() => parseReport(JSON.stringify(broken))).toThrow(message);
  });
});

test('two reports are compared by what both have, and say what one lacks', () => {
  const faster: DeviceReport = {
    ...report,
    peak: null,
    attention: report.attention && {
      ...report.attention,
      measurements: [measurement(2), measurement(1, 64)],
    },
  };
  const rows = compareReports(report, faster);
  const named = (name: string) => rows.find(row => row.name === name);
  expect(named('flash forward, 8 × 512 × 64, f32, causal')).toMatchObject({ values: [1, 2], ratio: 2 });
  expect(named('flash forward, 8 × 64 × 64, f32, causal')).toMatchObject({ values: [null, 4], ratio: null });
  expect(named('copy')).toMatchObject({ values: [100, null], unit: 'GB/s', ratio: null });
  expect(named('backward, f32')).toMatchObject({ values: ['wrong', 'wrong'], ratio: null });
});

test('a kernel is limited by memory below the ridge, and by the peak of its precision above', () => {
  const [below] = rooflineOf(report)?.points ?? [];
  // 40 FLOP per byte at 100 GB/s are 4 TFLOP/s, more than the f32 peak.
  expect(below).toMatchObject({ intensity: 40, reached: 1, predicted: 2, limit: 'arithmetic' });
  const narrow = report.attention && {
    ...report.attention,
    measurements: [{ ...measurement(4), bytes: 1e9 }],
  };
  expect(rooflineOf({ ...report, attention: narrow })?.points[0]).toMatchObject({
    predicted: 0.4,
    limit: 'memory',
  });
});

test('the Markdown has the verdict and all numbers, and no markup from the driver', () => {
  const text = reportMarkdown(report);
  expect(text).toContain('# Attention on Acme \\| \\<b\\>One\\</b\\>');
  expect(text).toContain('| forward, f32 | right | 1.0e-7 | 1.0e-5 |');
  expect(text).toContain('| backward, f32 | **wrong** | lost');
  expect(text).toContain('| flash forward, 8 × 512 × 64 | 4.00 ms | 1.00 | 50 % | 1.0e-6 |');
  expect(text).toContain('| mask and bias | needs 9 storage buffers |');
});

import { parseReport } from '@tilewise/device-report';
import { examineDevice } from '@tilewise/device-report/measure';
import { diagnose } from '@tilewise/webgpu/doctor';
import { expect, it } from 'vitest';
import { deviceReportCommand } from './command.ts';

/** WebGPU without an adapter. */
const noGpu = { requestAdapter: async () => null } as unknown as GPU;

/** Runs the command on files by name; returns its output and exit code. */
async function run(args: readonly string[], files: Record<string, string> = {}) {
  const [out, errors]: [string[], string[]] = [[], []];
  const code = await deviceReportCommand(args, {
    console: { out: line => out.push(line), error: line => errors.push(line), progress: () => {} },
    examine: (settings, tell) => examineDevice(settings, { name: 'test' }, tell),
    read: async file => files[file] ?? '',
    write: async (file, text) => {
      files[file] = text;
    },
  });
  return { code, out: out.join('\n'), errors: errors.join('\n') };
}

it('prints the report of the doctor’s page, and compares two of them', async () => {
  const files: Record<string, string> = {};
  const settings = ['--engine', 'cpu', '--size', 'small', '--d', '32', '--causal'];
  expect(await run([...settings, '--output', 'a'], files)).toEqual({ code: 0, out: '', errors: '' });
  const report = parseReport(files.a ?? '');
  expect(report.host).toBe('test');
  expect(report.attention?.settings).toEqual({ D: 32, dtype: 'f32', causal: true });
  const first = report.attention?.measurements[0];
  if (first?.ms === undefined) throw new Error('The report has no measurement.');

  const faster = { ...first, ms: first.ms / 2 };
  const other = { ...report, attention: { ...report.attention, measurements: [faster] } };
  files.b = JSON.stringify(other);
  const compared = await run(['compare', 'a', 'b'], files);
  expect(compared.code).toBe(0);
  expect(compared.out).toMatch(/flash forward, .* × 32, f32, causal .* 2\.00/);
});

it('shows whole numbers, such as limits, with all digits', async () => {
  const limit = { name: 'maxComputeWorkgroupStorageSize', value: 32768, guaranteed: 16384 };
  const diagnosis = { ...(await diagnose({ gpu: noGpu })), limits: [limit] };
  const files = { a: JSON.stringify(diagnosis), b: JSON.stringify(diagnosis) };
  const { out } = await run(['compare', 'a', 'b'], files);
  expect(out).toMatch(/maxComputeWorkgroupStorageSize +32768 +32768/);
});

it('names a report that cannot be read', async () => {
  const error = new Error('no such file');
  const host = {
    console: { out: () => {}, error: (line: string) => lines.push(line), progress: () => {} },
    examine: () => Promise.reject(error),
    read: () => Promise.reject(error),
    write: () => Promise.reject(error),
  };
  const lines: string[] = [];
  expect(await deviceReportCommand(['compare', 'a', 'b'], host)).toBe(2);
  expect(lines).toEqual(['a: no such file']);
});

it('refuses an unknown choice, one file alone, and a file that is not a report', async () => {
  expect(await run(['--dtype', 'f64'])).toMatchObject({
    code: 2,
    errors: expect.stringContaining("--dtype must be one of f32, f16, bf16, got 'f64'."),
  });
  expect(await run(['compare', 'a'])).toMatchObject({ code: 2 });
  expect(await run(['compare', 'a', 'b'], { a: '{}', b: '{}' })).toMatchObject({
    code: 2,
    errors: expect.stringMatching(/^a: report.format must be/),
  });
});

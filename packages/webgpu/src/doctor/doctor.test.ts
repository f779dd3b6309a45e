import { Tensor } from '@tilewise/core';
import { openGpu, rewriteShaders } from '@tilewise/webgpu-host';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { relativeError } from './checks.ts';
import { doctorCommand } from './command.ts';
import type { Diagnosis } from './diagnosis.ts';
import { diagnose, formatDiagnosis } from './index.ts';
import { verdictOf } from './verdict.ts';

let gpu: GPU;
let kind: string;
let found: Diagnosis;
beforeAll(async () => {
  ({ gpu, kind } = await openGpu());
  found = await diagnose({ gpu });
});

/** The GPU, with an adapter that `change` has changed. */
function withAdapter(change: (adapter: GPUAdapter) => object): GPU {
  const requestAdapter = async (options: GPURequestAdapterOptions): Promise<unknown> => {
    const adapter = await gpu.requestAdapter(options);
    if (!adapter) throw new Error('the adapter of the tests is gone');
    const { info, features, limits } = adapter;
    return { info, features, limits, requestDevice: adapter.requestDevice.bind(adapter), ...change(adapter) };
  };
  return { requestAdapter } as unknown as GPU;
}

async function run(args: readonly string[], loadGpu = async (): Promise<GPU | undefined> => gpu) {
  const [lines, notes]: string[][] = [[], []];
  const code = await doctorCommand(args, {
    loadGpu,
    print: text => lines.push(text),
    note: text => notes.push(text),
  });
  return { code, text: lines.join('\n'), notes: notes.join('\n') };
}

describe('a diagnosis of a working device', () => {
  test('has the adapter, its features, and its limits beside the guaranteed ones', () => {
    expect(found.adapter?.software).toBe(kind === 'software');
    expect(found.limits).toContainEqual(
      expect.objectContaining({ name: 'maxStorageBuffersPerShaderStage', guaranteed: 8 }),
    );
    expect(found.limits.every(({ value, guaranteed }) => value >= guaranteed || guaranteed === 256)).toBe(
      true,
    );
    expect(found.features).toContain('core-features-and-limits');
  });

  test('has forward and backward checked against the reference, with their errors', () => {
    expect(found.checks.map(({ name }) => name)).toEqual([
      'forward, f32',
      'backward, f32',
      'forward, f16',
      'backward, f16',
    ]);
    for (const { error, allowed } of found.checks) {
      expect(error).toBeGreaterThan(0);
      expect(error).toBeLessThanOrEqual(allowed);
    }
  });

  test('checks every dtype, mask, bias and dropout on request, one by one', async () => {
    const told: string[] = [];
    const { checks, status } = await diagnose({
      gpu,
      thorough: true,
      onCheck: ({ name }, of) => told.push(`${name} of ${of}`),
    });
    expect(checks.filter(({ error, allowed }) => !(error <= allowed))).toEqual([]);
    expect(told).toEqual(checks.map(({ name }) => `${name} of ${checks.length}`));
    expect(told).toContain('backward, f32, bias, softcap, sinks of 16');
    expect(status).toBe(found.status);
  }, 120_000);

  test('ends with a verdict', () => {
    expect(found.status).toBe(kind === 'software' ? 'slow' : 'ok');
    expect(formatDiagnosis(found).split('\n').at(-1)?.trim()).toBe(found.verdict);
  });

  test('says which variants its limits enable', () => {
    expect(found.variants[0]).toEqual({ name: 'forward and backward', enabled: true, reasons: [] });
    const text = formatDiagnosis({
      ...found,
      variants: [{ name: 'mask and bias', enabled: false, reasons: ['needs 9 storage buffers'] }],
    });
    expect(text).toContain('no   mask and bias: needs 9 storage buffers');
  });
});

describe('a missing part', () => {
  test('WebGPU in the browser', async () => {
    vi.stubGlobal('navigator', {});
    expect(await diagnose()).toMatchObject({
      status: 'missing',
      verdict: expect.stringMatching(/no WebGPU.*https/),
    });
    vi.unstubAllGlobals();
  });

  test('an adapter', async () => {
    const without = { requestAdapter: async () => null } as unknown as GPU;
    expect(await diagnose({ gpu: without })).toMatchObject({
      status: 'missing',
      verdict: expect.stringMatching(/no adapter here: install or update the GPU driver/),
      adapter: null,
    });
  });

  test('a device', async () => {
    const refusing = withAdapter(() => ({ requestDevice: () => Promise.reject(new Error('no room')) }));
    const diagnosis = await diagnose({ gpu: refusing });
    expect(diagnosis.verdict).toMatch(/gave no device.*no room/);
    expect(diagnosis.adapter).toEqual(found.adapter);
  });
});

test('a device that computes wrong results is reported', async () => {
  const wrong = withAdapter(adapter => {
    rewriteShaders(adapter, wgsl => wgsl.replaceAll('exp(', 'exp2('));
    return { requestDevice: adapter.requestDevice };
  });
  const diagnosis = await diagnose({ gpu: wrong });
  expect(diagnosis.status).toBe('wrong');
  expect(diagnosis.verdict).toMatch(/not work correctly on this device \(forward, f32: off by .*report this/);
  expect(formatDiagnosis(diagnosis)).toContain('WRONG  forward, f32');
});

test('only the expected infinity is right, and no other non-finite number', () => {
  const { POSITIVE_INFINITY: inf, NEGATIVE_INFINITY: minus, NaN: nan } = Number;
  const errorOf = (got: number[], want: number[]) =>
    relativeError(Tensor.from(got, [got.length]), Tensor.from(want, [want.length]));
  expect(errorOf([minus, 2.5], [minus, 2])).toBe(0.25);
  for (const [got, want] of [
    [inf, minus],
    [minus, 0],
    [0, minus],
    [nan, 0],
  ])
    expect(errorOf([got], [want])).toBe(inf);
});

test('a device that fails is reported', () => {
  const [check] = found.checks;
  const failed = {
    ...check,
    error: Number.POSITIVE_INFINITY,
    failure: 'TilewiseError: the GPU is out of memory',
  };
  const adapter = { vendor: '', architecture: '', device: '', description: 'GPU', software: false };
  expect(verdictOf(adapter, [], [check, failed])).toMatchObject({
    status: 'wrong',
    verdict: expect.stringContaining('the GPU is out of memory'),
  });
  expect(verdictOf(adapter, [], [check]).status).toBe('ok');
});

describe('the command', () => {
  test('prints the report and exits with 0 when attention is right', async () => {
    const { code, text } = await run(['doctor']);
    expect(code).toBe(0);
    expect(text).toMatch(/^Adapter\n.*\n {2}from the npm package webgpu/);
    expect(text).toContain('Against the float64 reference');
  });

  describe('with --json, beside a navigator.gpu', () => {
    let printed: Awaited<ReturnType<typeof run>>;
    beforeAll(async () => {
      vi.stubGlobal('navigator', { gpu });
      printed = await run(['doctor', '--json'], () => Promise.reject(new Error('not asked for')));
      vi.unstubAllGlobals();
    });

    test('prints the diagnosis as JSON', () => {
      expect(JSON.parse(printed.text)).toMatchObject({ status: found.status, adapter: found.adapter });
    });

    test('writes the progress separately from the JSON', () => {
      expect(printed.notes).toMatch(/^Checking attention\..*\nCheck 1 of 4: forward, f32\n/);
    });

    test('uses navigator.gpu, as in Deno, and needs no package', () => {
      expect(printed.code).toBe(0);
      expect(JSON.parse(printed.text).source).toMatch(/navigator\.gpu/);
    });
  });

  test('says what to install if Dawn is missing', async () => {
    const { code, text } = await run(['doctor'], async () => undefined);
    expect(code).toBe(1);
    expect(text).toContain('none, from Node\n');
    expect(text).toContain('npm install webgpu');
  });

  test('says so if Dawn does not load', async () => {
    const { code, text } = await run(['doctor'], () => Promise.reject(new Error('no glibc')));
    expect(code).toBe(1);
    expect(text).toMatch(/does not load on this machine \(Error: no glibc\)/);
  });

  test('prints its usage', async () => {
    expect((await run([])).code).toBe(2);
    for (const args of [['--help'], ['doctor', '--help']]) {
      const { code, text } = await run(args);
      expect(code).toBe(0);
      expect(text).toMatch(/^Usage/);
    }
    expect((await run(['doctor', '--loud'])).text).toMatch(/^Unknown option --loud/);
    expect((await run(['doctor', 'loud'])).text).toMatch(/^Unexpected argument loud/);
    const { code, text } = await run(['nurse']);
    expect([code, text]).toEqual([2, expect.stringMatching(/^There is no command nurse\.[\s\S]*Usage/)]);
  });
});

import { copyFileSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fixturesDir } from '@tilewise/test-data';
import { describe, expect, test } from 'vitest';
import { newFolder, run, runJson } from '../../testing/run-conformance.ts';

// SwiftShader takes seconds to compile each variant of a kernel, so the GPU runs only the smallest cases.
const gpuTimeout = 180_000;
const gpuCases = 2;

const attention = join(fixturesDir(), 'attention');
const philox = join(fixturesDir(), 'philox');

function editJson(path: string, edit: (content: Record<string, never>) => void): void {
  const content = JSON.parse(readFileSync(path, 'utf8'));
  edit(content);
  writeFileSync(path, JSON.stringify(content));
}

describe('attention', () => {
  test.each([
    ['reference', 'f32'],
    ['cpu', 'f32'],
    ['cpu', 'f16'],
    ['cpu', 'bf16'],
  ])('%s passes every committed case in %s', async (engine, dtype) => {
    const { code, counts, results } = await runJson(
      'attention',
      '--vectors',
      attention,
      '--engine',
      engine,
      '--dtype',
      dtype,
    );
    expect(results.filter(({ status }) => status !== 'pass')).toEqual([]);
    expect({ code, counts }).toEqual({ code: 0, counts: { pass: 24, fail: 0, unsupported: 0, skipped: 0 } });
    for (const { error } of results) expect(error).toBeLessThanOrEqual(1);
  });

  test(
    'webgpu fails none of the smallest cases',
    async () => {
      const folder = newFolder();
      const size = (file: string): number => statSync(join(attention, file)).size;
      const smallest = readdirSync(attention)
        .sort((a, b) => size(a) - size(b))
        .slice(0, gpuCases);
      for (const file of smallest) copyFileSync(join(attention, file), join(folder, file));
      const { code, counts, results } = await runJson('attention', '--vectors', folder, '--engine', 'webgpu');
      expect(results.filter(({ status }) => status === 'fail')).toEqual([]);
      expect(code).toBe(0);
      expect(counts.pass).toBeGreaterThan(0);
    },
    gpuTimeout,
  );

  test('a wrong case fails by name, and makes the run fail', async () => {
    const folder = newFolder();
    const file = '022_mqa_5_1_dv.json';
    copyFileSync(join(attention, file), join(folder, file));
    copyFileSync(join(attention, '002_single_key.json'), join(folder, '002_single_key.json'));
    editJson(join(folder, file), ({ outputs }: Record<string, Record<string, { data: string }>>) => {
      const bytes = Buffer.from(outputs.dk.data, 'base64');
      bytes.writeFloatLE(bytes.readFloatLE(8) + 0.01, 8);
      outputs.dk.data = bytes.toString('base64');
    });
    const { code, counts, results } = await runJson('attention', '--vectors', folder);
    expect(code).toBe(1);
    expect(counts).toEqual({ pass: 1, fail: 1, unsupported: 0, skipped: 0 });
    const failed = results.find(({ status }) => status === 'fail');
    expect(failed).toMatchObject({
      case: 'mqa_5_1_dv',
      reason: expect.stringMatching(/^dk is off by 1\.00e-2/),
    });
    expect(failed?.error).toBeGreaterThan(1);
  });

  test('a filter skips the others and says so', async () => {
    const { code, counts, results } = await runJson(
      'attention',
      '--vectors',
      attention,
      '--filter',
      'softcap',
    );
    expect({ code, counts }).toEqual({ code: 0, counts: { pass: 2, fail: 0, unsupported: 0, skipped: 22 } });
    expect(results[0]).toEqual({
      ...{ case: 'tiny_1x1x1x1', status: 'skipped', error: null, ms: 0 },
      reason: "its name does not contain 'softcap'",
    });
  });

  test('the cases of a manifest are run, and missing ones fail', async () => {
    const folder = newFolder();
    mkdirSync(join(folder, 'cases'));
    copyFileSync(join(attention, '002_single_key.json'), join(folder, 'cases', 'a.json'));
    const cases = [
      { name: 'first', file: 'cases/a.json' },
      { name: 'second', file: 'cases/b.json' },
    ];
    writeFileSync(join(folder, 'manifest.json'), JSON.stringify({ cases }));
    const { code, results } = await runJson('attention', '--vectors', folder);
    expect(code).toBe(1);
    expect(results.map(({ case: name, status }) => [name, status])).toEqual([
      ['first', 'pass'],
      ['second', 'fail'],
    ]);
    expect(results[1].reason).toContain('which is missing');
  });

  test('an unknown input or parameter makes a case unsupported, not wrong', async () => {
    const folder = newFolder();
    copyFileSync(join(attention, '002_single_key.json'), join(folder, 'a.json'));
    copyFileSync(join(attention, '002_single_key.json'), join(folder, 'b.json'));
    editJson(join(folder, 'a.json'), ({ inputs }: Record<string, Record<string, object>>) => {
      inputs.blockSparse = inputs.q;
    });
    editJson(join(folder, 'b.json'), ({ params }: Record<string, Record<string, boolean>>) => {
      params.rotary = true;
    });
    const { code, results } = await runJson('attention', '--vectors', folder);
    expect(code).toBe(0);
    expect(results).toMatchObject([
      { status: 'unsupported', reason: 'the input blockSparse is not known' },
      { status: 'unsupported', reason: 'the parameter rotary is not known' },
    ]);
  });

  test('the readable report has a line per case and a line with the counts', async () => {
    const { lines } = await run('attention', '--vectors', attention, '--filter', 'tiny');
    expect(lines).toHaveLength(25);
    expect(lines[0]).toMatch(/^pass {9}tiny_1x1x1x1 {2}\w+ is off by .* {2}\d+ ms$/);
    expect(lines.at(-1)).toBe('\n1 passed, 0 failed, 0 unsupported, 23 skipped');
  });
});

describe('philox', () => {
  test('every committed vector is checked on the host', async () => {
    const { code, counts, results } = await runJson('philox', '--vectors', philox);
    expect(results.filter(({ status }) => status !== 'pass')).toEqual([]);
    expect(code).toBe(0);
    expect(counts.pass).toBeGreaterThan(200);
  });

  test(
    'webgpu passes all vectors that are not for hosts only',
    async () => {
      const { code, counts, results } = await runJson('philox', '--vectors', philox, '--engine', 'webgpu');
      const others = results.filter(({ status }) => status !== 'pass');
      expect(others.filter(({ reason }) => !reason?.includes('has no WGSL'))).toEqual([]);
      expect(code).toBe(0);
      expect(counts.pass).toBeGreaterThan(150);
    },
    gpuTimeout,
  );

  test('one wrong bit is one wrong value', async () => {
    const folder = newFolder();
    const path = join(folder, 'renamed.json');
    copyFileSync(join(philox, 'mem_eff_dropout_vectors.json'), path);
    editJson(path, ({ cases, thresholds }: Record<string, Record<string, string>[]>) => {
      cases[0].mask_hex = `${(Number.parseInt(cases[0].mask_hex[0], 16) ^ 8).toString(16)}${cases[0].mask_hex.slice(1)}`;
      thresholds.length = 1;
    });
    const { code, results } = await runJson('philox', '--vectors', folder);
    expect(code).toBe(1);
    expect(results.filter(({ status }) => status === 'fail')).toEqual([
      expect.objectContaining({
        case: 'renamed/cases/0',
        error: 1,
        reason: expect.stringMatching(/^mask byte 0 is /),
      }),
    ]);
  });

  test("the first words of oneDNN's sequences are equal, on webgpu too; other lists are skipped", async () => {
    const folder = newFolder();
    mkdirSync(join(folder, 'nested'));
    const sequence = {
      ...{ seed: '81985529216486895', offset: '1234605616436508552', at_2p33_plus5: 3801402258 },
      first16: [1519045198, 636555681, 452584582, 25996379, 687524156],
    };
    const write = (file: string, content: unknown) =>
      writeFileSync(join(folder, file), JSON.stringify(content));
    write('words.json', { note: 'text', vectors: [sequence] });
    write('nested/list.json', [
      { idx: '0x1', seed: '0123456789ABCDEF', offset: '0x1122334455667788', out: '0x25F111A1' },
    ]);
    write('cases.json', [{ case: 'op/f32/add.json' }]);
    for (const engine of ['cpu', 'webgpu']) {
      const { code, results } = await runJson('philox', '--vectors', folder, '--engine', engine);
      expect(code).toBe(0);
      expect(results.map(({ case: name, status, reason }) => [name, status, reason])).toEqual([
        ['cases', 'skipped', 'it holds no vectors'],
        ['nested/list/0', 'pass', null],
        ['words/vectors/0', 'pass', null],
      ]);
    }
  });

  test('unknown vectors are unsupported', async () => {
    const folder = newFolder();
    const known = { alg: 'threefry2x64', rounds: 20, key: ['0'], counter: ['0'], out: ['0'] };
    const content = {
      source: 'text',
      mapping: { a: 1 },
      threefry: [{ key: 1 }],
      words: ['00'],
      vectors: [known],
    };
    writeFileSync(join(folder, 'other.json'), JSON.stringify(content));
    const { code, results } = await runJson('philox', '--vectors', folder);
    expect(code).toBe(0);
    expect(results.map(({ case: name, status, reason }) => [name, status, reason])).toEqual([
      ['other/threefry/0', 'unsupported', 'no family of vectors has these fields'],
      ['other/words', 'unsupported', 'no family of vectors has these fields'],
      ['other/vectors/0', 'unsupported', 'there is no block function threefry2x64'],
    ]);
  });
});

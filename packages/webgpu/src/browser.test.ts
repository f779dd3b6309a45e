import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fixturesDir, goldenCases, goldenText } from '@tilewise/test-data';
import { runSeed } from '@tilewise/test-data/random-problem';
import { runInBrowser } from '@tilewise/webgpu-host/browser';
import { beforeAll, describe, expect, test } from 'vitest';
import type { KernelSuite, KernelSuiteResults } from '../test-pages/kernel-suite.ts';

const page = fileURLToPath(new URL('../test-pages/kernel-suite.ts', import.meta.url));
// The browser from npm is built for Linux x64; on other machines, TILEWISE_CHROMIUM names a browser.
const hasBrowser =
  (process.platform === 'linux' && process.arch === 'x64') || Boolean(process.env.TILEWISE_CHROMIUM);

const committed = join(fixturesDir(), 'attention');
const names = goldenCases(committed);
const seed = runSeed();
// Node tests every structure on the same kernels; here the golden cases test each option, and a few
// structures test combinations.
const [structures, each] = [6, 5];

// One page runs everything, because compiled kernels are cached per device; the tests read the page's
// results.
describe.runIf(hasBrowser)(`in headless Chromium, TILEWISE_SEED=${seed}`, () => {
  let results: KernelSuiteResults;
  beforeAll(async () => {
    const suite: KernelSuite = {
      golden: [
        ...names.map(name => ({ name, storage: 'f32', text: goldenText(name, committed) }) as const),
        ...(['f16', 'bf16'] as const).map(storage => {
          const name = 'causal_fa_23x56_d15_br';
          return { name, storage, text: goldenText(name, committed) };
        }),
      ],
      ...{ seed, structures, each },
    };
    const files = { '/suite.json': JSON.stringify(suite) };
    results = (await runInBrowser(page, { timeout: 900_000, files })) as KernelSuiteResults;
    console.log(`Chromium ran ${Object.keys(results.random).length} random problems on ${results.adapter}.`);
  }, 900_000);

  test.each([
    ...names.map(name => `${name} stored as f32`),
    ...['f16', 'bf16'].map(storage => `causal_fa_23x56_d15_br stored as ${storage}`),
  ])('golden case %s', name => {
    expect(results.golden[name]).toEqual([]);
  });

  test('random problems agree with the reference', () => {
    expect(Object.keys(results.random)).toHaveLength(structures * each);
    expect(Object.entries(results.random).filter(([, found]) => found.length > 0)).toEqual([]);
  });

  test('the doctor finds that attention works correctly', () => {
    expect(results.verdict).toMatch(/^Attention works correctly/);
  });
});

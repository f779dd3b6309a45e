import { fileURLToPath } from 'node:url';
import { Tensor } from '@tilewise/core';
import { runInBrowser } from '@tilewise/webgpu-host/browser';
import { describe, expect, test } from 'vitest';
import { call } from '../test-pages/call.ts';
import { exactResults } from '../testing/attention-call.ts';
import { expectAgreement } from '../testing/expect-agreement.ts';

const page = fileURLToPath(new URL('../test-pages/attention.ts', import.meta.url));
// The browser from npm is built for Linux x64; on other machines TILEWISE_CHROMIUM names one.
const hasBrowser =
  (process.platform === 'linux' && process.arch === 'x64') || Boolean(process.env.TILEWISE_CHROMIUM);

describe.runIf(hasBrowser)('in headless Chromium', () => {
  test('forward and backward agree with the reference', async () => {
    const exact = exactResults(call);
    const values = (await runInBrowser(page)) as Record<string, number[]>;
    expect(Object.keys(values).sort()).toEqual(Object.keys(exact).sort());
    const got = Object.fromEntries(
      Object.entries(exact).map(([name, { shape, dtype }]) => [
        name,
        Tensor.from(values[name], shape, { dtype }),
      ]),
    );
    expectAgreement(got, exact);
  });
});

import type { GradientName } from '@tilewise/core';
import { expect, test } from 'vitest';
import { gpuForward, gpuResults, normal } from '../../../../testing/attention/attention-call.ts';
import { bitsOf, expectSameBits } from '../../../../testing/attention/expect-agreement.ts';
import { sharedContext } from '../../../../testing/device/shared-context.ts';

const [q, dO] = [1, 2].map(seed => normal([2, 4, 100, 8], seed));
const [k, v] = [3, 4].map(seed => normal([2, 2, 100, 8], seed));
const call = { q, k, v, dO, options: { causal: true, dropout: { p: 0.2, seed: 7 } } };

test('two runs give the same bits', async () => {
  const ctx = await sharedContext();
  expectSameBits(await gpuResults(ctx, call), await gpuResults(ctx, call));
});

test.each([[['dq']], [['dk']], [['dv']], [['dv', 'dq']]] as GradientName[][][])(
  '%j alone have the bits of the full run',
  async gradients => {
    const ctx = await sharedContext();
    const all = await gpuResults(ctx, call);
    const some = await gpuResults(ctx, { ...call, options: { ...call.options, gradients } });
    expect(Object.keys(some).sort()).toEqual(['lse', 'o', ...gradients].sort());
    expectSameBits(some, all, gradients);
  },
);

test('a batch entry gives the same bits alone', async () => {
  const ctx = await sharedContext();
  // No dropout, because the entry alone would get another mask.
  const options = { causal: true };
  const all = await gpuResults(ctx, { ...call, options });
  const one = (t: typeof q) => t.slice(0, 1, 2);
  const alone = await gpuResults(ctx, { q: one(q), k: one(k), v: one(v), dO: one(dO), options });
  for (const name of ['o', 'dq', 'dk', 'dv'])
    expect(bitsOf(alone[name]), name).toEqual(bitsOf(one(all[name])));
});

test('max and sumExp are the parts of lse', async () => {
  const ctx = await sharedContext();
  const options = { causal: true, outputs: { max: true, sumExp: true } };
  const { lse, max, sumExp } = await gpuForward(ctx, { ...call, options });
  const [l, m, s] = [lse, max, sumExp].map(t => t.toFloat64());
  l.forEach((x, n) => {
    expect(Math.abs(m[n] + Math.log(s[n]) - x)).toBeLessThan(1e-5);
  });
});

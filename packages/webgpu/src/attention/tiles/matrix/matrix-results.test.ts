import { Tensor } from '@tilewise/core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  type AttentionCall,
  exactResults,
  gpuResults,
  normal,
} from '../../../../testing/attention/attention-call.ts';
import { expectAgreement } from '../../../../testing/attention/expect-agreement.ts';
import { tilesOfMatrices } from '../../../../testing/attention/tile-kinds.ts';
import { sharedContext } from '../../../../testing/device/shared-context.ts';
import { createContext, type GpuContext } from '../../../index.ts';

// Three tiles of keys, and two of queries.
const shape = [1, 1, 70, 16];
const [S, D] = [70, 16];
const call: AttentionCall = {
  ...{ q: normal(shape, 1), k: normal(shape, 2), v: normal(shape, 3), dO: normal(shape, 4) },
  options: { causal: true },
};

let ctx: GpuContext;
beforeAll(async () => {
  const { device } = await sharedContext();
  const matrix = { M: 16, N: 16, K: 16, component: 'f32' } as const;
  ctx = await createContext({ device, tiles: tilesOfMatrices(matrix, 2, true) });
});
afterAll(() => ctx.destroy());

/** Scales row s of a tensor by `by(s)`. */
const scaled = (t: Tensor, by: (s: number) => number): Tensor =>
  Tensor.from(
    t.toFloat32().map((x, n) => x * by(Math.floor(n / D))),
    t.shape,
  );

test('rows are rescaled where a tile has scores far above those before', async () => {
  const q = Tensor.from(new Array(S * D).fill(1), shape);
  // The scores are 4 times these factors: first about 0, then 20, then 60, and finally 16.
  const k = scaled(q, s => [0, 5, 15, 4][Math.floor(s / 20)] + (s % 7) / 10);
  const exact = exactResults({ ...call, q, k });
  const { o, lse } = await gpuResults(ctx, { ...call, q, k }, exact);
  expectAgreement({ o, lse }, { o: exact.o, lse: exact.lse });
});

test('garbage that some rows see reaches those alone', async () => {
  const seen = 50;
  const v = call.v.contiguous();
  v.set(Number.NaN, 0, 0, seen, 3);
  v.set(Number.POSITIVE_INFINITY, 0, 0, seen, 9);
  const exact = exactResults(call);
  const { o } = await gpuResults(ctx, { ...call, v }, exact);
  const [got, want] = [o.toFloat32(), exact.o.toFloat32()];
  for (let n = 0; n < S * D; n++) {
    if (n / D >= seen && [3, 9].includes(n % D)) expect(Number.isFinite(got[n]), `element ${n}`).toBe(false);
    else expect(got[n], `element ${n}`).toBeCloseTo(want[n], 4);
  }
});

test('garbage that nothing sees reaches no gradient', async () => {
  const hidden = Array.from({ length: S }, (_, s) => s % 3 === 1);
  const mask = Tensor.from(
    hidden.map(h => Number(!h)),
    [S],
    { dtype: 'bool' },
  );
  const options = { mask };
  const exact = exactResults({ ...call, options });
  const [k, v] = [call.k, call.v].map(t => scaled(t, s => (hidden[s] ? Number.NaN : 1)));
  expectAgreement(await gpuResults(ctx, { ...call, k, v, options }, exact), exact);
});

import { Tensor } from '@tilewise/core';
import { cpuEngine } from '@tilewise/core/cpu';
import { referenceEngine, sdpa } from '@tilewise/core/reference';
import { fillNormal } from '@tilewise/philox';
import { type GoldenCase, gate, type RawTensor, referenceGate } from '@tilewise/test-data';
import { expect, test } from 'vitest';

const [B, H, S, D] = [4, 2, 160, 64];
const shape = [B, H, S, D];
const normal = (seed: number): Tensor =>
  Tensor.from(fillNormal(new Float32Array(B * H * S * D), { seed }), shape);
const [q, k, v, dO] = [normal(1), normal(2), normal(3), normal(4)];
const bias = Tensor.from([0.5, -0.25], [1, H, 1, 1]);
const raw = ({ shape: extents, ...t }: Tensor): RawTensor => ({
  dtype: 'f32',
  shape: extents,
  data: t.data as Float32Array,
});
const { o, lse } = sdpa(q, k, v, { bias });
const none = { o: [0, 0], dbias: [0, 0] } as const;
const golden: GoldenCase = {
  name: 'a bias that is summed over all keys and rows of a head',
  params: {
    ...{ layout: 'BHSD', B, Hq: H, Hk: H, Sq: S, Skv: S, Dqk: D, Dv: D, scale: 0.125 },
    scaleIsDefault: true,
    ...{ causal: false, align: 'tl', window: null, softcap: 0, dropoutP: 0 },
  },
  inputs: { dO: raw(dO), bias: raw(bias) },
  outputs: { o: raw(o) },
  refErr: { f32: none, f16: none, bf16: none },
  maxAbs: { dbias: 0 },
  deadRows: 0,
};

test.each([referenceEngine(), cpuEngine()])(
  'the $name engine is right if a bias with one number per head has no gradient',
  async engine => {
    const { dbias } = await engine.sdpaBackward({ q, k, v, o, lse, dO }, { bias, gradients: ['dbias'] });
    const error = Math.max(...dbias.toFloat64().map(Math.abs));
    const allowed =
      engine.name === 'reference' ? referenceGate(golden, 'dbias') : gate(golden, 'dbias', 'f32').rms;
    // More than the allowed error of an element of one row, but no more than the rounding of o causes in its
    // sums.
    expect(error).toBeGreaterThan(1e-6);
    expect(error).toBeLessThan(allowed);
    expect(allowed).toBeLessThan(1e-2);
  },
);

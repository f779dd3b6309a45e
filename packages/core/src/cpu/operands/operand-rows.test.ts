import { expect, test } from 'vitest';
import { normal } from '../../../testing/normal.ts';
import type { SdpaOptions } from '../../attention/options/options.ts';
import type { Tensor } from '../../tensor/tensor.ts';
import { cpuEngine } from '../engine.ts';

const engine = cpuEngine({ threads: 1 });
const [B, H, S, D] = [2, 3, 203, 16];

/** (B, H, S, D) by head or by position, followed by positions that hold NaN. */
function operand(seed: number, byPosition: boolean): Tensor {
  const long = S + 5;
  const all = normal(byPosition ? [B, long, H, D] : [B, H, long, D], seed);
  const whole = byPosition ? all.permute(0, 2, 1, 3) : all;
  for (let b = 0; b < B; b++) {
    for (let h = 0; h < H; h++) {
      for (let s = S; s < long; s++) {
        const at = b * whole.strides[0] + h * whole.strides[1] + s * whole.strides[2];
        whole.data.fill(Number.NaN, at, at + D);
      }
    }
  }
  return whole;
}

const shown = (whole: Tensor): Tensor => whole.slice(2, 0, S);

const options: Readonly<Record<string, SdpaOptions<Tensor>>> = {
  plain: {},
  causal: { causal: 'bottom-right' },
  'with dropout and lengths': { dropout: { p: 0.2, seed: 3 }, seqLensQ: [203, 100], seqLensKv: [50, 203] },
};

test.each(Object.entries(options))(
  'operands that are read in place give the bits of copies, %s',
  async (_, o) => {
    const copies = [1, 2, 3, 4].map(seed => operand(seed, seed % 2 === 0));
    const [q, k, v, dO] = copies.map(shown);
    const forward = await engine.sdpa(q, k, v, o);
    const expected = { ...forward, ...(await engine.sdpaBackward({ q, k, v, dO, ...forward }, o)) };

    const [ownQ, ownK, ownV, ownDO] = copies.map(whole => shown(engine.upload(whole)));
    const own = await engine.sdpa(ownQ, ownK, ownV, o);
    const inputs = { q: ownQ, k: ownK, v: ownV, dO: ownDO, o: engine.upload(own.o), lse: own.lse };
    const found = { ...own, ...(await engine.sdpaBackward(inputs, o)) };
    for (const name of ['o', 'lse', 'dq', 'dk', 'dv'] as const) {
      expect(found[name].toFloat32(), name).toEqual(expected[name].toFloat32());
    }
    expect(found.o.toFloat32().some(Number.isNaN)).toBe(false);
  },
);

import { type BlockAxis, type Mxfp8DType, type Mxfp8Options, quantiseMxfp8, Tensor } from '@tilewise/core';
import type { Concrete } from './concrete.ts';
import { extent } from './layouts.ts';

/** Row-major values of q, k, v and dO, as numbers. */
type Values = Readonly<Record<'q' | 'k' | 'v' | 'dO', Float64Array>>;

/** Values in MXFP8: what q, k and v store, and the option with their scales and the further roundings of backward. */
export interface Blocks {
  readonly values: Values;
  readonly option: Mxfp8Options<Tensor>;
}

/** Quantises the operands of a call as cuDNN takes them: each along the axis that its product sums over. */
export function quantised(c: Concrete, meant: Values): Blocks {
  const { dtype } = c;
  if (dtype !== 'f8e4m3' && dtype !== 'f8e5m2') throw new Error(`block scales do not go with ${dtype}`);
  const blocks = (name: keyof Values, along: BlockAxis) =>
    quantiseMxfp8(tensorOf(c, name, meant[name]), {
      along,
      dtype: dtype satisfies Mxfp8DType,
      layout: 'F8_128x4',
    });
  const [q, k, v] = [blocks('q', 'channels'), blocks('k', 'channels'), blocks('v', 'positions')];
  const option = {
    ...{ descaleQ: q.scales, descaleK: k.scales, descaleV: v.scales },
    layout: 'F8_128x4' as const,
  };
  const values = {
    ...{ q: q.values.toFloat64(), k: k.values.toFloat64(), v: v.values.toFloat64() },
    dO: meant.dO,
  };
  if (!c.backward) return { values, option };
  const [qT, kT] = [blocks('q', 'positions'), blocks('k', 'positions')];
  const [dO8, dOT] = [blocks('dO', 'channels'), blocks('dO', 'positions')];
  return {
    values,
    option: {
      ...option,
      ...{ qT: qT.values, descaleQT: qT.scales, kT: kT.values, descaleKT: kT.scales },
      ...{ dO8: dO8.values, descaleDO: dO8.scales, dOT: dOT.values, descaleDOT: dOT.scales },
    },
  };
}

function tensorOf(c: Concrete, name: keyof Values, values: Float64Array): Tensor {
  const [H, S, D] = extent(name === 'dO' ? 'o' : name, c.dims);
  return Tensor.from(values, [c.dims.B, H, S, D]);
}

import {
  type BlockAxis,
  type Mxfp8DType,
  type Mxfp8Options,
  quantiseMxfp8,
  type Tensor,
} from '@tilewise/core';
import type { Concrete } from '../concrete/concrete.ts';
import type { Operands } from './data.ts';

/**
 * Operands in MXFP8: the stored values of q, k and v, and the option with their scales and with further
 * roundings for backward.
 */
export interface Blocks {
  readonly operands: Operands;
  readonly option: Mxfp8Options<Tensor>;
}

/**
 * Quantises the operands of a call as cuDNN does: each along the axis that its product sums over. dO is also
 * used unquantised.
 */
export function quantised(c: Concrete, meant: Operands): Blocks {
  const { dtype } = c;
  if (dtype !== 'f8e4m3' && dtype !== 'f8e5m2')
    throw new Error(`block scales need f8e4m3 or f8e5m2, got ${dtype}`);
  const blocks = (name: keyof Operands, along: BlockAxis) =>
    quantiseMxfp8(meant[name], { along, dtype: dtype satisfies Mxfp8DType, layout: 'F8_128x4' });
  const [q, k, v] = [blocks('q', 'channels'), blocks('k', 'channels'), blocks('v', 'positions')];
  const operands = { q: q.values, k: k.values, v: v.values, dO: meant.dO };
  const option = {
    ...{ descaleQ: q.scales, descaleK: k.scales, descaleV: v.scales },
    layout: 'F8_128x4' as const,
  };
  if (!c.backward) return { operands, option };
  const [qT, kT] = [blocks('q', 'positions'), blocks('k', 'positions')];
  const [dO8, dOT] = [blocks('dO', 'channels'), blocks('dO', 'positions')];
  return {
    operands,
    option: {
      ...option,
      ...{ qT: qT.values, descaleQT: qT.scales, kT: kT.values, descaleKT: kT.scales },
      ...{ dO8: dO8.values, descaleDO: dO8.scales, dOT: dOT.values, descaleDOT: dOT.scales },
    },
  };
}

import type { GridPoint } from './grid.ts';

/** The values of a point, and which of them have not been read. */
export interface ReadValues {
  readonly stated: GridPoint;
  /** The point, for code that reads it; records the names that are read. */
  readonly watched: GridPoint;
  unread(): readonly string[];
}

/** Records which values are read, so that an axis that a runner does not know is not ignored silently. */
export function readValues(stated: GridPoint): ReadValues {
  const unread = new Set(Object.keys(stated));
  const watched = new Proxy(stated, {
    get(values, axis) {
      if (typeof axis === 'string') unread.delete(axis);
      return Reflect.get(values, axis);
    },
  });
  return { stated, watched, unread: () => [...unread] };
}

/**
 * Axes that describe a group: they always have the same value, which the runner assumes without reading it.
 */
const implied: Readonly<Record<string, Readonly<Record<string, readonly unknown[]>>>> = {
  'torch.memeff_attnmask_vs_math_grads': { bias: ['(Sq,Skv) rand, requires grad'] },
  'torch.fully_masked_rows': { B: [1], H: [1] },
  'torch.memeff_small_f32': { packedQKV: [true] },
  'torch.sdpa_with_inf': { dtype: ['f32'] },
  'torch.mask_ranks': { dtype: ['f16'] },
  'torch.long_mask': { mask: ['randn full 4D'] },
  'torch.noncontig_mask_bug': { qStrides: [[2304, 128, 2048, 1]], kvStrides: [[3584, 0, 256, 1]] },
  'torch.cudnn_nonmod64': { mask: ['bool randint (2,1,157,6404)'] },
  'flex.strided': { strideSets: ['offset / transposed / heads-seq transposed / padded dim'] },
  'flex.fully_masked_rows': { mask: ['q < S/2'] },
  'fa3.output': { Dv: ['d; 128 for 128<d<=192; 256,512 for d<=64'] },
  // Attention with the blocks of a mask is the same as without.
  'fa4.mask_mods': { blockSparse: [true, false] },
};

/** Whether a value is the one that the runner of a group assumes. */
export function isImplied(group: string, axis: string, value: unknown): boolean {
  const text = JSON.stringify(value);
  return implied[group]?.[axis]?.some(known => JSON.stringify(known) === text) ?? false;
}

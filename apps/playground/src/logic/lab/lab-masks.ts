import { type SdpaOptions, Tensor } from '@tilewise/core';
import {
  blockMaskBits,
  createBlockMask,
  dilatedMask,
  documentMask,
  lt,
  maskMod,
  orMasks,
  prefixLmMask,
  slidingWindowMask,
} from '@tilewise/core/expr';

/** The ids of the masks; the catalogue describes each. */
export type LabMaskId =
  | 'none'
  | 'causal'
  | 'window'
  | 'alibi'
  | 'softcap'
  | 'document'
  | 'prefix'
  | 'dilated'
  | 'block'
  | 'sink';

/** A number that a mask takes, in the steps of a slider. */
export interface LabValue {
  readonly min: number;
  readonly max: number;
  readonly initial: number;
  /** The size of one step; default 1. */
  readonly unit?: number;
}

/** A way to restrict or modify attention, as options of the library. */
export interface LabMask {
  readonly id: LabMaskId;
  /** The number of queries and keys in the figure. */
  readonly S: number;
  /** Rows and columns of the tiles that are computed or skipped as a whole, if the mask has tiles. */
  readonly tile?: number;
  /** The kernel's knowledge of hidden pairs before it computes a tile; absent without a mask mod. */
  readonly known?: 'causal' | 'nothing' | 'blocks';
  readonly value?: LabValue;
  /** The options as a user of the library would write them. */
  readonly code: (value: number) => string;
  readonly options: (value: number) => SdpaOptions;
}

const S = 24;
/** Block masks have tiles of 128 × 128, so the figure shows four by four of them. */
const blockedS = 512;
const globalKeys = 16;

/** Documents of about equal length, one after the other. */
function documentIds(documents: number): Tensor {
  const ids = Array.from({ length: S }, (_, s) => Math.floor((s * documents) / S));
  return Tensor.from(ids, [S], { dtype: 'i32' });
}

const nearOrGlobal = (reach: number) =>
  orMasks(
    slidingWindowMask({ left: reach, right: reach }),
    maskMod(({ kv }) => lt(kv, globalKeys)),
  );

export const labMasks: readonly LabMask[] = [
  { id: 'none', S, code: () => '{}', options: () => ({}) },
  { id: 'causal', S, code: () => '{ causal: true }', options: () => ({ causal: true }) },
  {
    id: 'window',
    S,
    value: { min: 0, max: S - 1, initial: 5 },
    code: left => `{ causal: true, window: { left: ${left} } }`,
    options: left => ({ causal: true, window: { left } }),
  },
  {
    id: 'alibi',
    S,
    value: { min: 1, max: 16, initial: 4, unit: 1 / 16 },
    code: slope => `{ causal: true, alibi: [${slope}] }`,
    options: slope => ({ causal: true, alibi: [slope] }),
  },
  {
    id: 'softcap',
    S,
    value: { min: 1, max: 16, initial: 6, unit: 0.25 },
    code: cap => `{ softcap: ${cap} }`,
    options: cap => ({ softcap: cap }),
  },
  {
    id: 'document',
    S,
    known: 'causal',
    value: { min: 1, max: 6, initial: 3 },
    code: () => '{ causal: true, maskMod: documentMask(ids) }',
    options: documents => ({ causal: true, maskMod: documentMask(documentIds(documents)) }),
  },
  {
    id: 'prefix',
    S,
    known: 'nothing',
    value: { min: 0, max: S, initial: 8 },
    code: length => `{ maskMod: prefixLmMask(${length}) }`,
    options: length => ({ maskMod: prefixLmMask(length) }),
  },
  {
    id: 'dilated',
    S,
    known: 'causal',
    value: { min: 1, max: 8, initial: 3 },
    code: dilation => `{ causal: true, maskMod: dilatedMask(${dilation}) }`,
    options: dilation => ({ causal: true, maskMod: dilatedMask(dilation) }),
  },
  {
    id: 'block',
    S: blockedS,
    tile: 128,
    known: 'blocks',
    value: { min: 8, max: 256, initial: 48 },
    code: () => '{ maskMod, blockMask: blockMaskBits(createBlockMask(maskMod, { Sq, Skv })) }',
    options: reach => {
      const mod = nearOrGlobal(reach);
      const blocks = createBlockMask(mod, { Sq: blockedS, Skv: blockedS });
      return { maskMod: mod, blockMask: blockMaskBits(blocks) };
    },
  },
  {
    id: 'sink',
    S,
    value: { min: -4, max: 12, initial: 2, unit: 0.5 },
    code: logit => `{ causal: true, sink: [${logit}] }`,
    options: logit => ({ causal: true, sink: [logit] }),
  },
];

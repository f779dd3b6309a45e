import { dropout } from './dropout.ts';
import { band, blockMask, mask, maskMod } from './masks.ts';
import type { RandomOption } from './option.ts';
import { dLse, gradients, outputs } from './results.ts';
import { alibi, bias, scale, scoreMod, sink, softcap } from './scores.ts';
import { lengths, pages, starts } from './sequences.ts';
import { extents, headSizes, heads } from './sizes.ts';
import { garbage, gradDType, layout, outDType, storageDType } from './storage.ts';

/**
 * Every option that random problems are composed of, in the order in which they set sizes. A new option is a
 constant in a file of this folder and a line here.
 */
export const randomOptions: readonly RandomOption[] = [
  extents,
  storageDType,
  outDType,
  heads,
  headSizes,
  blockMask,
  lengths,
  starts,
  pages,
  layout,
  garbage,
  scale,
  scoreMod,
  softcap,
  bias,
  alibi,
  mask,
  band,
  maskMod,
  sink,
  dropout,
  outputs,
  dLse,
  gradients,
  gradDType,
];

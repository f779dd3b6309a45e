import type { RandomOption } from '../option.ts';
import { alibi } from './alibi.ts';
import { band } from './band.ts';
import { bias } from './bias.ts';
import { blockMask } from './block-mask.ts';
import { dLse } from './d-lse.ts';
import { dropout } from './dropout.ts';
import { extents } from './extents.ts';
import { garbage } from './garbage.ts';
import { gradDType } from './grad-dtype.ts';
import { gradients } from './gradients.ts';
import { headSizes } from './head-sizes.ts';
import { heads } from './heads.ts';
import { layout } from './layout.ts';
import { lengths } from './lengths.ts';
import { mask } from './mask.ts';
import { maskMod } from './mask-mod.ts';
import { outDType } from './out-dtype.ts';
import { outputs } from './outputs.ts';
import { pages } from './pages.ts';
import { scale } from './scale.ts';
import { scoreMod } from './score-mod.ts';
import { sink } from './sink.ts';
import { softcap } from './softcap.ts';
import { starts } from './starts.ts';
import { storageDType } from './storage-dtype.ts';

/**
 * Every option that random problems are composed of, in the order in which they set sizes. A new one is a
 * file and a line.
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

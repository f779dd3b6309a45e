import { flashAttention2 } from './flash-attention-2.ts';
import { onednn } from './onednn.ts';
import type { DropoutScheme, DropoutSchemeName } from './scheme.ts';
import { torchEfficient } from './torch-efficient.ts';

/** Every dropout convention, by name. Its WGSL twin is `dropoutPieces` in `@tilewise/philox/wgsl`. */
export const dropoutSchemes: Readonly<Record<DropoutSchemeName, DropoutScheme>> = {
  'torch-efficient': torchEfficient,
  'flash-attention-2': flashAttention2,
  onednn,
};

import { flashAttention2 } from './flash-attention-2.ts';
import { onednn } from './onednn.ts';
import type { DropoutScheme, DropoutSchemeName } from './scheme.ts';
import { torchEfficient } from './torch-efficient.ts';

/** Every dropout convention, by name. `dropoutPieces` in `@tilewise/philox/wgsl` has their WGSL versions. */
export const dropoutSchemes: Readonly<Record<DropoutSchemeName, DropoutScheme>> = {
  'torch-efficient': torchEfficient,
  'flash-attention-2': flashAttention2,
  onednn,
};

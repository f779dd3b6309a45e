import { flashAttention2Rule } from './flash-attention-2.ts';
import { onednnRule } from './onednn.ts';
import type { DropoutScheme, DropoutSchemeName } from './scheme.ts';
import { torchEfficientRule } from './torch-efficient.ts';

/**
 * How each convention turns p into integers and a factor, by name. Apart from `dropoutSchemes`, so that a
 * bundle which draws its masks on a GPU holds none of the code that draws them on the host.
 */
export const dropoutRules: Readonly<Record<DropoutSchemeName, DropoutScheme['rule']>> = {
  'torch-efficient': torchEfficientRule,
  'flash-attention-2': flashAttention2Rule,
  onednn: onednnRule,
};

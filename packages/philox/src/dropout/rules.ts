import { flashAttention2Kept, flashAttention2Rule } from './flash-attention-2.ts';
import { onednnRule } from './onednn.ts';
import type { DropoutScheme, DropoutSchemeName } from './scheme.ts';
import { torchEfficientRule } from './torch-efficient.ts';

/**
 * How each convention turns p into integers and a factor, by name. Separate from `dropoutSchemes`, so that a
 * bundle that draws its masks on a GPU contains no code that draws them on the host.
 */
export const dropoutRules: Readonly<Record<DropoutSchemeName, DropoutScheme['rule']>> = {
  'torch-efficient': torchEfficientRule,
  'flash-attention-2': flashAttention2Rule,
  onednn: onednnRule,
};

/** The names of all conventions. */
export const dropoutSchemeNames: readonly DropoutSchemeName[] = [
  'torch-efficient',
  'flash-attention-2',
  'onednn',
];

/**
 * Checks a probability that is a number in [0, 1] for one convention, without the code of its rule.
 * @param name the name of p in the error.
 * @throws InvalidArgumentError for a p for which the convention has no mask.
 */
export function checkSchemeProbability(scheme: DropoutSchemeName, p: number, name: string): void {
  if (scheme === 'flash-attention-2') flashAttention2Kept(p, name);
}

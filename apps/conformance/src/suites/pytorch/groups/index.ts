import { flashAttentionGroups } from './flash-attention.ts';
import { flexGroups } from './flex.ts';
import type { GroupRunner } from './group.ts';
import { torchGroups } from './torch.ts';

/** How each group of the file is run here, by its id. */
export const groupRunners: Readonly<Record<string, GroupRunner>> = {
  ...torchGroups,
  ...flexGroups,
  ...flashAttentionGroups,
};

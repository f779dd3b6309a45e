import { option, type RandomOption } from '../option.ts';

/** How the rows of q, k, v and dO lie in memory: see `operands.ts`, which lays them out. */
export type LayoutName =
  | 'whole'
  | 'tokens first'
  | 'gaps of 4'
  | 'gaps of 1'
  | 'every other channel'
  | 'shared heads'
  | 'mixed';

export const layout: RandomOption = option<LayoutName>({
  name: 'layout',
  kind: 'structure',
  values: ['whole', 'tokens first', 'gaps of 4', 'gaps of 1', 'every other channel', 'shared heads', 'mixed'],
});

import type { AttentionProblem } from '@tilewise/core';
import type { TileChoice } from './tile-choice.ts';

/** Queries per head up to which the heads of a group share a tile, and keys are split. */
const fewQueries = 16;

/** The forward kernels that tiles are chosen for. */
export type ForwardRole = keyof TileChoice & ('forward' | 'decode');

/** Which of them runs a problem. */
export const forwardRole = ({ Sq }: AttentionProblem): ForwardRole =>
  Sq > fewQueries ? 'forward' : 'decode';

/** Whether a kernel is one of them: gradients join no rows. */
export const isForward = (role: keyof TileChoice): role is ForwardRole =>
  role === 'forward' || role === 'decode';

import { checkOneOf, InvalidArgumentError } from '../../errors.ts';
import type { Alignment, Band } from '../problem/problem.ts';
import type { SdpaOptions } from './options.ts';

const alignments: readonly Alignment[] = ['top-left', 'bottom-right'];

/**
 * The causal and window options as one diagonal band. If both are given, the band is their intersection, with
 * one alignment. An alignment without bounds gives a band that hides nothing, because ALiBi measures its
 * distances from that diagonal.
 * @throws InvalidArgumentError for an unknown alignment, or if the two options have different ones.
 */
export function bandOf({ causal = false, window }: SdpaOptions<unknown>): Band | null {
  checkOneOf('causal', causal, [false, true, ...alignments]);
  const causalAlign = causal === true ? 'top-left' : causal || null;
  const windowAlign = window?.align ?? null;
  if (windowAlign !== null) checkOneOf('window.align', windowAlign, alignments);
  if (causalAlign && windowAlign && causalAlign !== windowAlign) {
    throw new InvalidArgumentError('window.align', `must match causal (${causalAlign}), got ${windowAlign}`);
  }
  const left = window?.left ?? null;
  const right = causalAlign ? Math.min(0, window?.right ?? 0) : (window?.right ?? null);
  const align = causalAlign ?? windowAlign;
  if (left === null && right === null && align === null) return null;
  return { left, right, align: align ?? 'top-left' };
}

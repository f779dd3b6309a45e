import { backwardCalls } from './backward.ts';
import type { BrokenCall } from './call.ts';
import { eightBitCalls } from './eight-bit.ts';
import { operandCalls } from './operands.ts';
import { inputNameCalls, optionFormCalls } from './option-forms.ts';
import { scoreCalls } from './scores.ts';
import { sequenceCalls } from './sequences.ts';

export { type BrokenCall, goodCall } from './call.ts';

/** A case for each rule of the options. */
export const brokenCalls: readonly BrokenCall[] = [
  ...optionFormCalls,
  ...inputNameCalls,
  ...operandCalls,
  ...scoreCalls,
  ...sequenceCalls,
  ...eightBitCalls,
  ...backwardCalls,
];

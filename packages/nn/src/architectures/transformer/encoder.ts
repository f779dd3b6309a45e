import { add, type Variable } from '@tilewise/graph/ops';
import { type FeedForwardOptions, feedForward } from './feed-forward.ts';
import { type NormOptions, norm } from './norm.ts';
import { type Scope, scopedBlock } from './scope.ts';
import { type SelfAttentionOptions, selfAttention } from './self-attention.ts';

/** The blocks of an encoder as a table. */
export interface EncoderTable {
  readonly layers: number;
  prefix(layer: number): string;
  readonly attention: SelfAttentionOptions;
  readonly feedForward: FeedForwardOptions;
  readonly norm: NormOptions;
  /** The norms of both halves of a block. */
  readonly norms: readonly [attention: string, feedForward: string];
  /** Whether a half is normalised on its way in, or the sum that it is added to. */
  readonly order: 'before' | 'after';
}

/** The blocks of an encoder on x (B, S, dim). */
export function encoderStates(scope: Scope, table: EncoderTable, x: Variable, lengths?: Variable): Variable {
  const { layers, attention, norms, order } = table;
  let states = x;
  for (let n = 0; n < layers; n++) {
    const prefix = table.prefix(n);
    const halves = [
      (of: Variable) => selfAttention(scope, of, prefix, attention, { lengths, rotary: null }),
      (of: Variable) => feedForward(scope, of, prefix, table.feedForward),
    ];
    const block = (before: Variable): Variable =>
      halves.reduce((x, half, place) => {
        const normed = (of: Variable): Variable => norm(scope, of, prefix + norms[place], table.norm);
        return order === 'before' ? add(x, half(normed(x))) : normed(add(x, half(x)));
      }, before);
    states = scopedBlock(scope, block, states);
  }
  return states;
}

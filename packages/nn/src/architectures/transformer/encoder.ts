import { add, type Variable } from '@tilewise/graph/ops';
import type { ConfigReader } from '../../files/config/config-reader.ts';
import { activationNames, type FeedForwardOptions, feedForward } from './feed-forward.ts';
import { type NormOptions, norm } from './norm.ts';
import { type LinearOptions, type Scope, scopedBlock } from './scope.ts';
import { type SelfAttentionOptions, selfAttention } from './self-attention.ts';

/** The blocks of an encoder as a table. */
export interface EncoderTable {
  readonly layers: number;
  prefix(layer: number): string;
  readonly attention: SelfAttentionOptions;
  readonly feedForward: FeedForwardOptions;
  readonly norm: NormOptions;
  /** The norms of attention and feed-forward. */
  readonly norms: readonly [attention: string, feedForward: string];
  /** Whether the norm is applied before attention and feed-forward, or after their residual sums. */
  readonly order: 'before' | 'after';
}

/** The blocks of BERT, and of other encoders whose weights have BERT's names. */
export function readEncoder(
  config: ConfigReader,
  {
    model,
    dim,
    attention,
    inputs,
    ...order
  }: Pick<EncoderTable, 'norms' | 'order'> & {
    readonly model: string;
    readonly dim: number;
    /** The name of the layers of q, k and v. */
    readonly attention: string;
    readonly inputs: LinearOptions;
  },
): EncoderTable {
  const heads = config.integer('num_attention_heads', 12);
  config.checkDivides('num_attention_heads', heads, 'hidden_size', dim);
  const stored = { bias: true };
  return {
    layers: config.count('num_hidden_layers', 12),
    prefix: layer => `${model}.encoder.layer.${layer}.`,
    attention: {
      ...{ heads, kvHeads: heads, headDim: dim / heads, causal: false },
      qkv: [`${attention}.query`, `${attention}.key`, `${attention}.value`],
      o: 'attention.output.dense',
      inputs,
      output: stored,
    },
    feedForward: {
      hidden: config.integer('intermediate_size', 3072),
      activation: config.oneOf('hidden_act', activationNames, 'gelu'),
      ...{ up: 'intermediate.dense', down: 'output.dense', ...stored },
    },
    norm: { kind: 'layer', epsilon: config.number('layer_norm_eps', 1e-12) },
    ...order,
  };
}

/** The blocks of an encoder, applied to x (B, S, dim). */
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

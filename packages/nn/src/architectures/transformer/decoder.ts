import { Tensor } from '@tilewise/core';
import { add, constant, divide, multiply, tanh, type Variable } from '@tilewise/graph/ops';
import { type FeedForwardOptions, feedForward } from './feed-forward.ts';
import { type NormOptions, norm } from './norm.ts';
import type { Rope, RopeRule } from './rope.ts';
import { embedding as embed, integers, linear, product, type Scope, scopedBlock } from './scope.ts';
import {
  type LayerCache,
  type RotaryTables,
  type SelfAttentionOptions,
  type Sequences,
  selfAttention,
} from './self-attention.ts';

/** A decoder as a table: its structure, and the names of its weights. */
export interface DecoderTable {
  readonly vocabulary: number;
  readonly dim: number;
  readonly layers: number;
  /** The token embedding table, the factor of its rows, and the token whose lookups pass no gradient. */
  readonly embedding: {
    readonly name: string;
    readonly scale?: number | undefined;
    readonly padding?: number | undefined;
  };
  /** Learned positions: their table and how many there are. */
  readonly positions?: { readonly name: string; readonly count: number } | undefined;
  /** Rotary positions of a layer. */
  readonly rope?: ((layer: number) => RopeRule) | undefined;
  readonly norm: NormOptions;
  /** The prefix of the names of a layer's weights. */
  prefix(layer: number): string;
  attention(layer: number): SelfAttentionOptions;
  readonly feedForward: FeedForwardOptions;
  /** The norms of a block: before attention and feed-forward, and optionally after them. */
  readonly norms: {
    readonly beforeAttention: string;
    readonly afterAttention?: string | undefined;
    readonly beforeFeedForward: string;
    readonly afterFeedForward?: string | undefined;
  };
  readonly finalNorm: string;
  /** The layer that computes the logits; null if its weight is the embedding table. */
  readonly head: string | null;
  /** Logits are limited to ±cap by cap·tanh(x / cap). */
  readonly logitSoftcap?: number | undefined;
}

/** The inputs of a decoder. */
export interface DecoderInputs extends Pick<Sequences, 'lengths'> {
  /** i32 (B, S) */
  readonly tokens: Variable;
  /** The positions of the tokens in their sequences; 0, 1, … by default. */
  readonly positions?: Positions | undefined;
  /** The key-value cache of a layer. */
  readonly cache?: ((layer: number) => LayerCache) | undefined;
}

/** Positions of tokens. */
export interface Positions {
  /** i32 (B, S) */
  readonly indices: Variable;
  /** The angles of the positions according to a rule. */
  rotary(rule: RopeRule): RotaryTables;
}

/** Hidden states (B, S, dim) after the last norm. */
export function decoderStates(
  scope: Scope,
  table: DecoderTable,
  { tokens, lengths, positions: given, cache }: DecoderInputs,
): Variable {
  const { vocabulary, dim, embedding, positions, norms } = table;
  const places = given ?? firstPositions(tokens.shape[1]);
  const embedded = embed(scope, embedding.name, [vocabulary, dim], tokens, embedding.padding);
  let x = embedding.scale === undefined ? embedded : multiply(embedded, embedding.scale);
  if (positions) x = add(x, embed(scope, positions.name, [positions.count, dim], places.indices));
  const rotaries = new Map<RopeRule, RotaryTables>();
  const rotaryOf = (rule: RopeRule): RotaryTables => {
    const tables = rotaries.get(rule) ?? places.rotary(rule);
    rotaries.set(rule, tables);
    return tables;
  };
  for (let n = 0; n < table.layers; n++) {
    const prefix = table.prefix(n);
    const rule = table.rope?.(n);
    const named = (of: Variable, name: string | undefined): Variable =>
      name === undefined ? of : norm(scope, of, prefix + name, table.norm);
    const block = (before: Variable): Variable => {
      const normed = named(before, norms.beforeAttention);
      const attended = selfAttention(scope, normed, prefix, table.attention(n), {
        ...{ lengths, rotary: rule ? rotaryOf(rule) : null },
        cache: cache?.(n),
      });
      const between = add(before, named(attended, norms.afterAttention));
      const hidden = feedForward(scope, named(between, norms.beforeFeedForward), prefix, table.feedForward);
      return add(between, named(hidden, norms.afterFeedForward));
    };
    x = scopedBlock(scope, block, x);
  }
  return norm(scope, x, table.finalNorm, table.norm);
}

/** Logits (…, vocabulary) of hidden states (…, dim). */
export function decoderLogits(scope: Scope, table: DecoderTable, states: Variable): Variable {
  const { vocabulary, dim, head, embedding, logitSoftcap } = table;
  // A tied head is not a linear layer: merging an adapter for it would also change the embedding.
  const logits =
    head === null
      ? product(scope, states, scope.parameter(embedding.name, [vocabulary, dim]))
      : linear(scope, states, head, vocabulary);
  return logitSoftcap === undefined ? logits : multiply(tanh(divide(logits, logitSoftcap)), logitSoftcap);
}

/** The positions 0 to S − 1, which are the same in each sequence. */
function firstPositions(S: number): Positions {
  const indices = Array.from({ length: S }, (_, n) => n);
  return {
    indices: constant(integers(indices)),
    rotary: rule => {
      const rope = rule.at(S);
      const shape = [S, rope.frequencies.length];
      const [cos, sin] = rotaryValues(rope, indices).map(values => constant(Tensor.from(values, shape)));
      return { cos, sin };
    },
  };
}

/** The cosine and the sine for each position and pair, times the factor. */
export function rotaryValues(
  { frequencies, factor }: Rope,
  positions: readonly number[],
): readonly [cos: Float32Array, sin: Float32Array] {
  const angles = positions.flatMap(position => frequencies.map(f => position * f));
  const of = (f: (angle: number) => number) => Float32Array.from(angles, angle => factor * f(angle));
  return [of(Math.cos), of(Math.sin)];
}

import { Tensor } from '@tilewise/core';
import { add, constant, divide, gather, multiply, reshape, tanh, type Variable } from '@tilewise/graph/ops';
import type { Rope, RopeRule } from '../config/rope.ts';
import { type FeedForwardOptions, feedForward } from './feed-forward.ts';
import { type NormOptions, norm } from './norm.ts';
import { embedding as embed, linear, type Scope } from './scope.ts';
import { type SelfAttentionOptions, type Sequences, selfAttention } from './self-attention.ts';

/** A decoder as a table: what it is made of, and how its weights are named. */
export interface DecoderTable {
  readonly vocabulary: number;
  readonly dim: number;
  readonly layers: number;
  /** Of a token: the table of embeddings, and what they are multiplied by. */
  readonly embedding: { readonly name: string; readonly scale?: number | undefined };
  /** Learned positions: their table and how many there are. */
  readonly positions?: { readonly name: string; readonly count: number } | undefined;
  /** Rotary positions of a layer. */
  readonly rope?: ((layer: number) => RopeRule) | undefined;
  readonly norm: NormOptions;
  /** What the names of a layer's weights begin with. */
  prefix(layer: number): string;
  attention(layer: number): SelfAttentionOptions;
  readonly feedForward: FeedForwardOptions;
  /** The norms of a block: before its halves, and of their results where there are such. */
  readonly norms: {
    readonly beforeAttention: string;
    readonly afterAttention?: string | undefined;
    readonly beforeFeedForward: string;
    readonly afterFeedForward?: string | undefined;
  };
  readonly finalNorm: string;
  /** The layer of the logits; null where it is the table of embeddings. */
  readonly head: string | null;
  /** Logits are brought into ±cap by cap·tanh(x / cap). */
  readonly logitSoftcap?: number | undefined;
}

/** What a decoder reads. */
export interface DecoderInputs extends Pick<Sequences, 'lengths'> {
  /** i32 (B, S) */
  readonly tokens: Variable;
  /** i32 (B, S): positions of the tokens up to a length; 0, 1, … unless given. */
  readonly positions?: { readonly indices: Variable; readonly length: number } | undefined;
  /** Where a layer keeps keys and values. */
  readonly cache?: ((layer: number) => NonNullable<Sequences['cache']>) | undefined;
}

/** Hidden states (B, S, dim) after the last norm. */
export function decoderStates(
  scope: Scope,
  table: DecoderTable,
  { tokens, lengths, positions: given, cache }: DecoderInputs,
): Variable {
  const { vocabulary, dim, embedding, positions, norms } = table;
  const S = tokens.shape[1];
  const embedded = embed(scope, embedding.name, [vocabulary, dim], tokens);
  let x = embedding.scale === undefined ? embedded : multiply(embedded, embedding.scale);
  if (positions) {
    const places =
      given?.indices ??
      Tensor.from(
        Array.from({ length: S }, (_, n) => n),
        [S],
        { dtype: 'i32' },
      );
    x = add(x, embed(scope, positions.name, [positions.count, dim], places));
  }
  const rotaries = new Map<string, Sequences['rotary']>();
  for (let n = 0; n < table.layers; n++) {
    const prefix = table.prefix(n);
    const rope = table.rope?.(n).at(given?.length ?? S);
    const key = JSON.stringify(rope ?? null);
    const rotary = rotaries.get(key) ?? (rope ? rotaryTables(rope, S, given) : null);
    rotaries.set(key, rotary);
    const named = (of: Variable, name: string | undefined): Variable =>
      name === undefined ? of : norm(scope, of, prefix + name, table.norm);
    const attended = selfAttention(scope, named(x, norms.beforeAttention), prefix, table.attention(n), {
      ...{ lengths, rotary },
      cache: cache?.(n),
    });
    x = add(x, named(attended, norms.afterAttention));
    const hidden = feedForward(scope, named(x, norms.beforeFeedForward), prefix, table.feedForward);
    x = add(x, named(hidden, norms.afterFeedForward));
  }
  return norm(scope, x, table.finalNorm, table.norm);
}

/** Logits (…, vocabulary) of hidden states (…, dim). */
export function decoderLogits(scope: Scope, table: DecoderTable, states: Variable): Variable {
  const { vocabulary, head, embedding, logitSoftcap } = table;
  const layer = head ?? embedding.name.replace(/\.weight$/, '');
  const logits = linear(scope, states, layer, vocabulary);
  return logitSoftcap === undefined ? logits : multiply(tanh(divide(logits, logitSoftcap)), logitSoftcap);
}

/** Cosine and sine of all positions up to a length, or those of the positions that are given. */
function rotaryTables(
  { frequencies, factor }: Rope,
  S: number,
  given: DecoderInputs['positions'],
): NonNullable<Sequences['rotary']> {
  const length = given?.length ?? S;
  const pairs = frequencies.length;
  const tableOf = (of: (angle: number) => number): Tensor =>
    Tensor.from(
      Float32Array.from(
        { length: length * pairs },
        (_, n) => factor * of(Math.floor(n / pairs) * frequencies[n % pairs]),
      ),
      [length, pairs],
    );
  const [cos, sin] = [tableOf(Math.cos), tableOf(Math.sin)];
  return { cos: rows(cos, given), sin: rows(sin, given) };
}

function rows(table: Tensor, given: DecoderInputs['positions']): Variable {
  if (!given) return constant(table);
  const [B, S] = given.indices.shape;
  return reshape(gather(table, given.indices), [B, 1, S, table.shape[1]]);
}

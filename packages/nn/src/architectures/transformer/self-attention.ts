import { standardSlopes, Tensor } from '@tilewise/core';
import {
  attention,
  concat,
  constant,
  reshape,
  rotaryEmbedding,
  slice,
  transpose,
  type Variable,
} from '@tilewise/graph/ops';
import { type NormOptions, norm } from './norm.ts';
import { asOperand, inFloat32, type LinearOptions, linear, type Scope } from './scope.ts';

/** How a layer attends. */
export interface SelfAttentionOptions {
  readonly heads: number;
  readonly kvHeads: number;
  readonly headDim: number;
  readonly causal: boolean;
  readonly scale?: number | undefined;
  readonly softcap?: number | undefined;
  /** How many keys each query sees, including its own; all by default. */
  readonly window?: number | undefined;
  /** Adds slope·(j − i) to the score of query i and key j ≤ i, as in ALiBi (Press et al. 2022). */
  readonly alibi?: boolean | undefined;
  /** The probability that an element of the softmax is dropped in training. */
  readonly dropout?: number | undefined;
  /** The layers of q, k and v, or one layer that gives all three. */
  readonly qkv: readonly [q: string, k: string, v: string] | string;
  readonly o: string;
  readonly inputs?: LinearOptions | undefined;
  readonly output?: LinearOptions | undefined;
  /** The names of the norms of the heads of q and k. */
  readonly headNorms?: { readonly q: string; readonly k: string; readonly norm: NormOptions } | undefined;
}

/** Cosine and sine of the angles, (S, R / 2) or (B, 1, S, R / 2). */
export interface RotaryTables {
  readonly cos: Variable;
  readonly sin: Variable;
}

/** The sequences as attention sees them. */
export interface Sequences {
  /** i32 (B): the number of tokens of each sequence, including the cached ones; all by default. */
  readonly lengths?: Variable | undefined;
  /** Null without rotary embeddings. */
  readonly rotary: RotaryTables | null;
  readonly cache?: LayerCache | undefined;
}

/** The keys and values of all tokens so far, of one layer. */
export interface LayerCache {
  /** Appends the keys and values of the new tokens, and returns all of them. */
  append(k: Variable, v: Variable): { readonly k: Variable; readonly v: Variable };
  /** i32 (B): how many tokens of each sequence are new; all by default. */
  readonly counts?: Variable | undefined;
}

/** Self-attention on x (B, S, dim). */
export function selfAttention(
  scope: Scope,
  x: Variable,
  prefix: string,
  options: SelfAttentionOptions,
  { lengths, rotary, cache }: Sequences,
): Variable {
  const { heads, kvHeads, headDim, causal, scale, softcap, window, o, output, headNorms } = options;
  const { alibi = false, dropout: p = 0 } = options;
  const [B, S, dim] = x.shape;
  const [q, k, v] = projections(scope, asOperand(scope, x), prefix, options).map((rows, n) =>
    transpose(reshape(rows, [B, S, n === 0 ? heads : kvHeads, headDim]), [0, 2, 1, 3]),
  );
  const placed = (t: Variable, name: 'q' | 'k'): Variable => {
    const normed = headNorms ? norm(scope, t, prefix + headNorms[name], headNorms.norm) : t;
    return asOperand(scope, rotary ? rotaryEmbedding(normed, rotary.cos, rotary.sin) : normed);
  };
  const own = { k: placed(k, 'k'), v: asOperand(scope, v) };
  const seen = cache?.append(own.k, own.v) ?? own;
  const query = placed(q, 'q');
  const draw = p > 0 ? scope.draw?.() : null;
  const attend = (values: Variable): Variable =>
    attention(query, seen.k, values, {
      ...{ scale, softcap, seqLensQ: cache?.counts, seqLensKv: lengths },
      // The new tokens are the last ones in the cache.
      ...(causal && { causal: cache ? 'bottom-right' : true }),
      ...(window !== undefined && { window: { left: window - 1 } }),
      ...(alibi && { alibi: Tensor.from(standardSlopes(heads), [heads]) }),
      ...(draw && { dropout: { p, ...draw } }),
    });
  const attended = attend(seen.v);
  scope.observe?.(
    probabilities(values => inFloat32(attend(asOperand(scope, constant(values)))), seen.k.shape),
  );
  const rows = reshape(transpose(attended, [0, 2, 1, 3]), [B, S, heads * headDim]);
  return linear(scope, rows, prefix + o, dim, output);
}

/**
 * The maximum number of columns of the softmax that one attention computes. The columns are the head size of
 * its values, and 256 is a head size that every engine runs.
 */
const MAX_COLUMNS = 256;

/** The softmax (B, H, Sq, Skv), computed as attention whose values are the rows of the identity matrix. */
function probabilities(attend: (values: Tensor) => Variable, [B, , keys]: readonly number[]): Variable {
  const starts = Array.from({ length: Math.ceil(keys / MAX_COLUMNS) }, (_, n) => n * MAX_COLUMNS);
  const parts = starts.map(start => {
    const columns = Math.min(MAX_COLUMNS, keys - start);
    const values = new Float32Array(B * keys * columns);
    for (let b = 0; b < B; b++)
      for (let c = 0; c < columns; c++) values[(b * keys + start + c) * columns + c] = 1;
    return attend(Tensor.from(values, [B, 1, keys, columns]));
  });
  return parts.length === 1 ? parts[0] : concat(parts, { axis: -1 });
}

function projections(
  scope: Scope,
  x: Variable,
  prefix: string,
  { qkv, heads, kvHeads, headDim, inputs }: SelfAttentionOptions,
): readonly Variable[] {
  const widths = [heads, kvHeads, kvHeads].map(n => n * headDim);
  if (typeof qkv !== 'string')
    return qkv.map((name, n) => linear(scope, x, prefix + name, widths[n], inputs));
  const all = linear(scope, x, prefix + qkv, widths[0] + widths[1] + widths[2], inputs);
  const starts = [0, widths[0], widths[0] + widths[1]];
  return starts.map((start, n) => slice(all, { axis: -1, start, size: widths[n] }));
}

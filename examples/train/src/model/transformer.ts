import { Tensor } from '@tilewise/core';
import type { LogicalTensor } from '@tilewise/graph';
import { type AttentionShape, alibiBias, causalAttention } from './attention.ts';
import type { GraphWriter } from './graph-writer.ts';
import type { ModelShape } from './model-shape.ts';
import { layerName, parameterSpecs } from './parameters.ts';

/** How a pass through the model is written. */
export interface PassOptions {
  /** Sequences at once; their tokens are one list of batch·context. */
  readonly batch: number;
  /** Share of the attention probabilities that is dropped; 0: nothing. */
  readonly dropout: number;
  /** Whether what a backward pass reads is kept as results, instead of being computed again. */
  readonly keep: boolean;
  /** Logits of one row alone, which is told when the pass runs. */
  readonly oneRow?: boolean;
}

/** A pass through the model. */
export interface Pass {
  /** i32 (batch·context) */
  readonly tokens: LogicalTensor;
  /** By name. */
  readonly parameters: ReadonlyMap<string, LogicalTensor>;
  /** i64: the seed of all dropout, and an offset for each place. None where nothing is dropped. */
  readonly dropout: { readonly seed: LogicalTensor; readonly offsets: readonly LogicalTensor[] } | null;
  /** i32 (1): the row whose logits are wanted; null where all are. */
  readonly row: LogicalTensor | null;
  /** (batch·context, vocabulary), or (1, vocabulary) of one row. */
  readonly logits: LogicalTensor;
  /** (batch, heads, context, context), of each layer. */
  readonly probabilities: readonly LogicalTensor[];
}

/**
 * A decoder-only transformer with norms before its sublayers: token and position embeddings, then in each
 * layer causal attention and an MLP with GELU, each added to the residual stream, which holds one row per
 * token.
 */
export function writeTransformer(g: GraphWriter, shape: ModelShape, options: PassOptions): Pass {
  const { batch, keep } = options;
  const rows = batch * shape.context;
  const tokens = g.input([rows], 'token ids', 'i32');
  const parameters = new Map(parameterSpecs(shape).map(spec => [spec.name, g.input(spec.shape, spec.name)]));
  const parameter = (name: string): LogicalTensor => {
    const found = parameters.get(name);
    if (!found) throw new Error(`the model has no parameter '${name}'`);
    return found;
  };
  const dropout = createDropout(g, options.dropout);
  const kept = (t: LogicalTensor): LogicalTensor => (keep ? g.result(t) : t);
  const linear = (x: LogicalTensor, name: string): LogicalTensor => g.op('MatMul', [x, parameter(name)]);
  const norm = (x: LogicalTensor): LogicalTensor => kept(g.op('RMSNorm', [x]));

  const positions = Int32Array.from({ length: rows }, (_, n) => n % shape.context);
  const place = g.constant(Tensor.wrap(positions, { dtype: 'i32', shape: [rows] }), 'positions of tokens');
  let stream = g.op('Add', [
    g.op('Gather', [parameter('tokens'), tokens]),
    g.op('Gather', [parameter('positions'), place]),
  ]);
  const probabilities: LogicalTensor[] = [];
  const { context: S, heads } = shape;
  const own: AttentionShape = { B: batch, S, heads, headSize: shape.dim / heads };
  const bias = g.constant(alibiBias(own), 'ALiBi');
  for (let n = 0; n < shape.layers; n++) {
    const name = (part: string): string => layerName(n, part);
    const x = norm(kept(stream));
    const qkv = ['q', 'k', 'v'].map(part => kept(linear(x, name(`attention.${part}`))));
    const attended = causalAttention(g, qkv, own, { bias, drop: dropout.drop, stats: keep });
    probabilities.push(attended.probabilities);
    const added = linear(kept(attended.o), name('attention.o'));
    stream = kept(g.op('Add', [stream, added]));

    const y = norm(stream);
    const hidden = kept(g.op('GELU', [kept(linear(y, name('mlp.up')))], { mode: 'gelu_tanh' }));
    stream = g.op('Add', [stream, linear(hidden, name('mlp.down'))]);
  }
  const row = options.oneRow ? g.input([1], 'row', 'i32') : null;
  const last = row ? g.op('Gather', [stream, row]) : kept(stream);
  const logits = kept(linear(norm(last), 'logits'));
  return { tokens, parameters, dropout: dropout.inputs(), row, logits, probabilities };
}

/** Dropout at as many places as ask for it, each with an offset of its own. */
function createDropout(
  g: GraphWriter,
  p: number,
): { drop(x: LogicalTensor): LogicalTensor; inputs(): Pass['dropout'] } {
  if (p === 0) return { drop: x => x, inputs: () => null };
  const seed = g.scalar('dropout seed', 'i64');
  const offsets: LogicalTensor[] = [];
  return {
    drop(x) {
      const offset = g.scalar(`dropout offset ${offsets.length}`, 'i64');
      offsets.push(offset);
      return g.op('Dropout', [x, seed, offset], { p });
    },
    inputs: () => ({ seed, offsets }),
  };
}

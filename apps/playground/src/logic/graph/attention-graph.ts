import { Tensor } from '@tilewise/core';
import { Graph, type GraphDType, gradients, type LogicalTensor } from '@tilewise/graph';
import { fillNormal } from '@tilewise/philox';

/**
 * The graph to build: forward, forward with the results that backward needs, or the graph of the gradients.
 */
export type Pass = 'inference' | 'training' | 'backward';

/** The operations between the products. */
export interface AttentionGraphOptions {
  readonly pass: Pass;
  readonly dtype: 'f32' | 'f16' | 'bf16';
  /** A causal mask computed from indices, a mask that is added, a mask that selects, or none. */
  readonly mask: 'none' | 'causal' | 'added' | 'selected';
  readonly softmax: 'operation' | 'decomposed';
  readonly dropout: boolean;
  /** Two query heads share a head of keys and values; heads of a group have their own dimension. */
  readonly grouped: boolean;
  readonly softcap: boolean;
}

/** Numbers for the inputs of a graph, by tensor id. */
export type GraphInputs = Readonly<Record<number, Tensor | number | bigint>>;

/** A graph and inputs to run it with. */
export interface AttentionGraph {
  readonly graph: Graph;
  /** The graph that must run before a gradient graph, because the gradient graph reads its results. */
  readonly forward: Graph | null;
  readonly inputs: GraphInputs;
  /** For each tensor without a name of its own, the tensor whose gradient it is. */
  readonly names: TensorNames;
}

/** Names for readers, by tensor id. */
export type TensorNames = ReadonlyMap<number, string>;

/** The name of a tensor, or its number. */
export function tensorName({ id, name }: LogicalTensor, names: TensorNames): string {
  return names.get(id) ?? (name || `t${id}`);
}

export const [B, H, S, D] = [1, 4, 64, 32] as const;

/**
 * The graph of attention with the given options, finalized. Shapes are (B, H, S, D), or (B, H/2, 2, S, D) if
 * heads are grouped.
 */
export function attentionGraph(options: AttentionGraphOptions): AttentionGraph {
  const builder = new AttentionBuilder(options);
  const { q, k, v, o } = builder.attention();
  const forward = builder.graph.finalize();
  const { inputs } = builder;
  if (options.pass !== 'backward') return { graph: forward, forward: null, inputs, names: new Map() };
  const graph = gradients(forward, { of: o, withRespectTo: [q, k, v] }).finalize();
  const names = new Map<number, string>();
  for (const seed of graph.seeds.values()) {
    inputs[seed.id] = normal(seed.dtype, builder.shapes.q, seed.id);
    names.set(seed.id, 'dO');
  }
  for (const { id, name } of [q, k, v]) {
    const gradient = graph.gradients.get(id);
    if (gradient) names.set(gradient.id, `d${name}`);
  }
  return { graph, forward, inputs, names };
}

/** Standard normal numbers, from a separate stream for each tensor. */
export function normal(dtype: GraphDType, shape: readonly number[], stream: number): Tensor {
  const values = fillNormal(new Float32Array(shape.reduce((n, extent) => n * extent, 1)), {
    seed: 7,
    subsequence: stream,
  });
  return Tensor.from(values, shape, { dtype: dtype as 'f32' });
}

class AttentionBuilder {
  readonly graph = new Graph();
  readonly inputs: Record<number, Tensor | number | bigint> = {};
  readonly shapes: { readonly q: readonly number[]; readonly kv: readonly number[] };
  readonly #options: AttentionGraphOptions;

  constructor(options: AttentionGraphOptions) {
    this.#options = options;
    this.shapes = options.grouped
      ? { q: [B, H / 2, 2, S, D], kv: [B, H / 2, 1, S, D] }
      : { q: [B, H, S, D], kv: [B, H, S, D] };
  }

  attention(): Readonly<Record<'q' | 'k' | 'v' | 'o', LogicalTensor>> {
    const { dtype, softcap, dropout, pass } = this.#options;
    const [q, k, v] = [
      this.#input('q', this.shapes.q),
      this.#input('k', this.shapes.kv),
      this.#input('v', this.shapes.kv),
    ];
    let s = this.#op('MatMul', [q, k], { transpose_b: true });
    s = this.#op('Multiply', [s, this.#scalar('scale', 1 / Math.sqrt(D))]);
    if (softcap) {
      const cap = this.#scalar('softcap', 2);
      s = this.#op('Multiply', [this.#op('Tanh', [this.#op('Divide', [s, cap])]), cap]);
    }
    s = this.#masked(s);
    let p = this.#softmax(s, pass !== 'inference');
    if (dropout) {
      const stream = [this.#scalar('seed', 42n, 'i64'), this.#scalar('offset', 0n, 'i64')];
      p = this.#op('Dropout', [p, ...stream, this.#scalar('p', 0.1)]);
    }
    if (dtype !== 'f32') p = this.#op('TypeCast', [p], {}, dtype);
    const o = this.#op('MatMul', [p, v], {}, dtype, 'o');
    return { q, k, v, o };
  }

  #masked(s: LogicalTensor): LogicalTensor {
    switch (this.#options.mask) {
      case 'none':
        return s;
      case 'causal': {
        const row = this.#op('GenIndex', [s], { axis: -2 }, 'i32', 'row');
        const column = this.#op('GenIndex', [s], { axis: -1 }, 'i32', 'column');
        const visible = this.#op('GreaterEqual', [row, column], {}, 'bool', 'visible');
        return this.#op('Select', [visible, s, this.#scalar('fill', Number.NEGATIVE_INFINITY)]);
      }
      case 'added': {
        const mask = this.graph.tensor({ name: 'mask', dtype: 'f32', shape: [S, S] });
        this.inputs[mask.id] = Tensor.from(
          Array.from({ length: S * S }, (_, n) => (hidden(n) ? Number.NEGATIVE_INFINITY : 0)),
          [S, S],
        );
        return this.#op('Add', [s, mask]);
      }
      case 'selected': {
        const mask = this.graph.tensor({ name: 'mask', dtype: 'bool', shape: [S, S] });
        this.inputs[mask.id] = Tensor.from(
          Array.from({ length: S * S }, (_, n) => (hidden(n) ? 0 : 1)),
          [S, S],
          { dtype: 'bool' },
        );
        return this.#op('Select', [mask, s, this.#scalar('fill', Number.NEGATIVE_INFINITY)]);
      }
    }
  }

  /** The softmax; its log-sum-exp is a second result if backward needs it. */
  #softmax(s: LogicalTensor, stats: boolean): LogicalTensor {
    if (this.#options.softmax === 'operation') {
      const p = this.graph.tensor({ name: 'P', dtype: 'f32' });
      const lse = this.graph.tensor({ name: 'stats', dtype: 'f32' });
      const outputs = stats ? [p, lse] : [p];
      this.graph.add({ kind: 'SoftMax', attrs: { axis: -1, mode: 'inf_as_zero' }, inputs: [s], outputs });
      return p;
    }
    const along = { axes: [-1], keep_dims: true };
    const max = this.#op('ReduceMax', [s], along, 'f32', 'max');
    const e = this.#op('Exp', [this.#op('Subtract', [s, max])]);
    const sum = this.#op('ReduceSum', [e], along, 'f32', 'sum');
    if (stats) this.#op('Add', [max, this.#op('Log', [sum])], {}, 'f32', 'stats');
    return this.#op('Divide', [e, sum], {}, 'f32', 'P');
  }

  #input(name: string, shape: readonly number[]): LogicalTensor {
    const t = this.graph.tensor({ name, dtype: this.#options.dtype, shape });
    this.inputs[t.id] = normal(t.dtype, shape, t.id);
    return t;
  }

  #scalar(name: string, value: number | bigint, dtype: GraphDType = 'f32'): LogicalTensor {
    const t = this.graph.tensor({ name, dtype, shape: [], property: 'host_scalar' });
    this.inputs[t.id] = value;
    return t;
  }

  #op(
    kind: string,
    inputs: readonly LogicalTensor[],
    attrs: Readonly<Record<string, boolean | number | readonly number[]>> = {},
    dtype: GraphDType = 'f32',
    name?: string,
  ): LogicalTensor {
    const output = this.graph.tensor({ dtype, name });
    this.graph.add({ kind, attrs, inputs, outputs: [output] });
    return output;
  }
}

/**
 * The pairs that the mask tensors hide: keys of another third of the sequence, so that the mask is not
 * causal.
 */
function hidden(n: number): boolean {
  const third = (at: number): number => Math.floor((3 * at) / S);
  return third(Math.floor(n / S)) !== third(n % S);
}

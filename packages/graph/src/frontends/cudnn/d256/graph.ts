import {
  checkObject,
  InvalidArgumentError,
  lengthsFromCumulative,
  type TensorDesc,
  type Window,
} from '@tilewise/core';
import type { TensorEngine } from '@tilewise/core/primitive';
import { Graph } from '../../../graph.ts';
import type { LogicalTensor } from '../../../ir/tensor/logical-tensor.ts';
import type { Bindings } from '../../../runtime/bindings/bindings.ts';
import { addUnified } from '../unified.ts';
import type { D256Gradients, D256Options, D256Tensors } from './call.ts';
import { checkD256Lengths, dimensionsOf, HEAD_SIZE } from './rules.ts';

/** A compiled backward call. */
export interface D256Built<T> {
  release(): void;
  run(
    tensors: D256Tensors<T>,
    gradients: D256Gradients<T> | null,
    scale: number | null | undefined,
  ): Promise<D256Gradients<T>>;
}

const gradientNames = { dq: 'q', dk: 'k', dv: 'v' } as const;

/** Compiles a graph of one operation, for tensors with the same layouts as the samples. */
export async function buildD256<T extends TensorDesc>(
  engine: TensorEngine<T>,
  samples: D256Tensors<T>,
  gradients: D256Gradients<T> | null,
  options: D256Options,
): Promise<D256Built<T>> {
  const isPacked = samples.cumSeqlenQ !== undefined;
  const longest = await longestSequences(engine, samples);
  checkD256Lengths(options, longest);
  const window = d256Window(options);
  const graph = new Graph();
  const tensors = Object.fromEntries(
    Object.entries(viewed(engine, samples, isPacked)).map(([name, { dtype, shape, strides }]) => [
      name,
      graph.tensor({ dtype, shape, strides }),
    ]),
  );
  const scale = graph.tensor({ dtype: 'f32', shape: [], property: 'host_scalar' });
  const { q, k, v, o, lse, dO, cumSeqlenQ, cumSeqlenK } = tensors;
  const results = addUnified(graph, {
    kind: 'SdpaBackward',
    inputs: { q, k, v, o, lse, dO },
    options: {
      scale,
      ...(window && { window }),
      ...(isPacked && {
        cuSeqLensQ: cumSeqlenQ,
        cuSeqLensKv: cumSeqlenK,
        maxSeqLenQ: options.maxSQ ?? longest.q,
        maxSeqLenKv: options.maxSK ?? longest.k,
      }),
    },
    results: { dq: q.dtype, dk: k.dtype, dv: v.dtype },
  });
  const names = ['dq', 'dk', 'dv'] as const;
  const outputs = gradients
    ? names.map(name => [results[name].id, withoutBatch(engine, gradients[name], isPacked)] as const)
    : [];
  const [partition] = graph.finalize().partitions();
  // A graph that is compiled for one call goes to the engine's cache.
  const compiled =
    gradients &&
    partition.compile(engine, {
      outputs: Object.fromEntries(outputs.map(([id, { shape, strides }]) => [id, { shape, strides }])),
      cached: false,
    });
  const execute: Execute<T> = bindings =>
    compiled ? compiled.execute(bindings) : partition.run(engine, bindings);
  return {
    run: (given, into, number) => run(engine, execute, { tensors, results, scale }, given, into, number),
    release: () => compiled?.release(),
  };
}

type Execute<T> = (bindings: Bindings<T | number>) => Promise<Record<number, T>>;

interface Nodes {
  readonly tensors: Readonly<Record<string, LogicalTensor>>;
  readonly results: Readonly<Record<string, LogicalTensor>>;
  readonly scale: LogicalTensor;
}

async function run<T extends TensorDesc>(
  engine: TensorEngine<T>,
  execute: Execute<T>,
  { tensors, results, scale }: Nodes,
  given: D256Tensors<T>,
  into: D256Gradients<T> | null,
  number: number | null | undefined,
): Promise<D256Gradients<T>> {
  const isPacked = given.cumSeqlenQ !== undefined;
  const bindings: Record<number, T | number> = { [scale.id]: number || 1 / Math.sqrt(HEAD_SIZE) };
  for (const [name, tensor] of Object.entries(viewed(engine, given, isPacked))) {
    if (!tensors[name]) throw new InvalidArgumentError(name, 'was not given as a sample to the constructor');
    bindings[tensors[name].id] = tensor;
  }
  for (const name of ['dq', 'dk', 'dv'] as const) {
    if (into) bindings[results[name].id] = withoutBatch(engine, into[name], isPacked);
  }
  const made = await execute(bindings);
  if (into) return into;
  const asOperand = (name: 'dq' | 'dk' | 'dv'): T => {
    const gradient = made[results[name].id];
    const { shape } = given[gradientNames[name]];
    if (shape.length === gradient.shape.length) return gradient;
    return engine.primitives.view(gradient, { shape, strides: [0, ...gradient.strides] });
  };
  return { dq: asOperand('dq'), dk: asOperand('dk'), dv: asOperand('dv') };
}

/**
 * The tensors in the shapes that an attention operation takes: packed tensors as (T, H, D) with lse as
 * (H, T).
 */
function viewed<T extends TensorDesc>(
  engine: TensorEngine<T>,
  { lse, cumSeqlenQ, cumSeqlenK, q, k, v, o, dO }: D256Tensors<T>,
  isPacked: boolean,
): Readonly<Record<string, T>> {
  const operands = Object.entries({ q, k, v, o, dO }).map(
    ([name, t]) => [name, withoutBatch(engine, t, isPacked)] as const,
  );
  const [T0, H] = lse.shape;
  const rows = isPacked
    ? engine.primitives.view(lse, { shape: [H, T0], strides: [lse.strides[1], lse.strides[0]] })
    : lse;
  return {
    ...Object.fromEntries(operands),
    lse: rows,
    ...(cumSeqlenQ && { cumSeqlenQ }),
    ...(cumSeqlenK && { cumSeqlenK }),
  };
}

function withoutBatch<T extends TensorDesc>(engine: TensorEngine<T>, tensor: T, isPacked: boolean): T {
  const shape = dimensionsOf(tensor, isPacked);
  if (shape.length === tensor.shape.length) return tensor;
  return engine.primitives.view(tensor, { shape, strides: tensor.strides.slice(1) });
}

/** The longest sequences: the extents, or the largest lengths from the cumulative lengths. */
async function longestSequences<T extends TensorDesc>(
  engine: TensorEngine<T>,
  { q, k, cumSeqlenQ, cumSeqlenK }: D256Tensors<T>,
): Promise<{ readonly q: number; readonly k: number }> {
  if (!cumSeqlenQ || !cumSeqlenK) return { q: q.shape[2], k: k.shape[2] };
  const longest = async (name: string, t: T): Promise<number> =>
    Math.max(0, ...lengthsFromCumulative(await engine.download(t), name));
  return { q: await longest('cumSeqlenQ', cumSeqlenQ), k: await longest('cumSeqlenK', cumSeqlenK) };
}

/**
 * The band that the options mean; undefined without one.
 * @throws InvalidArgumentError if the options are not an object.
 */
export function d256Window(options: D256Options): Window | undefined {
  checkObject('options', options);
  const { isCausal = false, windowSize: [left, right] = [-1, -1] } = options;
  const bounds = {
    ...(left >= 0 && { left }),
    ...(isCausal ? { right: 0 } : right >= 0 && { right }),
  };
  return Object.keys(bounds).length === 0 ? undefined : { ...bounds, align: 'bottom-right' };
}

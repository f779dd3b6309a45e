import {
  InvalidArgumentError,
  lengthsFromCumulative,
  type Support,
  type TensorDesc,
  UnsupportedError,
  type Window,
} from '@tilewise/core';
import type { TensorEngine } from '@tilewise/core/primitive';
import type { Bindings } from '../execution/bindings.ts';
import { Turns } from '../execution/turns.ts';
import { Graph } from '../graph/graph.ts';
import type { LogicalTensor } from '../tensor/logical-tensor.ts';
import { checkD256, checkD256Lengths, checkScale, dimensionsOf, HEAD_SIZE } from './d256-rules.ts';
import { addUnified } from './unified.ts';

/**
 * What backward takes: (B, Hq, Sq, 256), (B, Hk, Skv, 256) and lse f32 (B, Hq, Sq); or packed by cumulative lengths, i32 (B + 1),
 * (Tq, Hq, 256), (Tk, Hk, 256) (a leading 1 is allowed) and lse (Tq, Hq) or (Tq, Hq, 1). All but lse f16 or bf16.
 */
export interface D256Tensors<T> {
  readonly q: T;
  readonly k: T;
  readonly v: T;
  readonly o: T;
  readonly dO: T;
  readonly lse: T;
  readonly cumSeqlenQ?: T;
  readonly cumSeqlenK?: T;
}

/** The gradients, in the shapes and the dtype of q, k and v. */
export interface D256Gradients<T> {
  readonly dq: T;
  readonly dk: T;
  readonly dv: T;
}

/** The options of both forms, by cuDNN's names. */
export interface D256Options {
  /** Longest sequences; taken from the cumulative lengths when left out. */
  readonly maxSQ?: number;
  readonly maxSK?: number;
  /** What sums are made in, and cuDNN's tiles: there is one value of each, and kernels here choose tiles of their own. */
  readonly accDType?: 'f32';
  readonly mmaTilerMn?: readonly [128, 128];
  readonly dkdvMmaTilerMn?: readonly [128, 64];
  /** Hides the keys right of the diagonal, whatever the window says. */
  readonly isCausal?: boolean;
  /**
   * Keys left and right of the diagonal one that are seen, −1 for all. The diagonal ends at the last query and the last key of each
   * sequence. Default [−1, −1]. (cuDNN has a window with `isCausal` alone.)
   */
  readonly windowSize?: readonly [left: number, right: number];
  /** Default, and for 0 too: 1/√256. */
  readonly scaleSoftmax?: number | null;
}

type Samples<T> = D256Tensors<T> & D256Gradients<T>;

/**
 * The gradients of attention for heads of 256, in the rhythm of cuDNN's class `SdpabwdSm100D256`: made for sample tensors, asked
 * whether it can run, compiled, and executed any number of times on tensors that lie like them.
 */
export class SdpaBackwardD256<T extends TensorDesc> {
  readonly #engine: TensorEngine<T>;
  readonly #samples: Samples<T>;
  readonly #options: D256Options;
  readonly #turns = new Turns('SdpaBackwardD256');
  #built: Promise<Built<T>> | undefined;

  /** @throws InvalidShapeError, InvalidDTypeError or InvalidArgumentError naming the sample or option. */
  constructor(engine: TensorEngine<T>, samples: Samples<T>, options: D256Options = {}) {
    checkD256(samples, options);
    this.#engine = engine;
    this.#samples = samples;
    this.#options = options;
  }

  /**
   * Whether the engine can run it, and if not why.
   * @throws InvalidArgumentError for bounds that the lengths of the samples do not allow.
   */
  async checkSupport(): Promise<Support> {
    try {
      await this.compile();
      return { supported: true, reasons: [] };
    } catch (error) {
      if (error instanceof UnsupportedError) return { supported: false, reasons: error.reasons };
      throw error;
    }
  }

  /**
   * Readies the kernels.
   * @throws UnsupportedError when the engine cannot run it; InvalidArgumentError as `checkSupport`, and after `release`.
   */
  async compile(): Promise<void> {
    this.#turns.check();
    await this.#ready();
  }

  /**
   * Writes the gradients of tensors that lie like the samples; compiles first if need be.
   * @param scaleSoftmax another scale than that of the constructor.
   * @throws InvalidArgumentError for a scale that is not finite, and after `release`.
   */
  async execute(
    tensors: Samples<T>,
    { scaleSoftmax }: Pick<D256Options, 'scaleSoftmax'> = {},
  ): Promise<void> {
    checkScale(scaleSoftmax);
    await this.#turns.run(async () => {
      const { run } = await this.#ready();
      const { dq, dk, dv } = tensors;
      await run(tensors, { dq, dk, dv }, scaleSoftmax ?? this.#options.scaleSoftmax);
    });
  }

  /** Frees what was compiled, once what was asked for has run. Afterwards nothing runs. */
  release(): void {
    this.#turns.release(() => {
      this.#built?.then(
        ({ release }) => release(),
        () => undefined,
      );
    });
  }

  #ready(): Promise<Built<T>> {
    this.#built ??= build(this.#engine, this.#samples, this.#samples, this.#options).catch(error => {
      // What has failed may do better the next time.
      this.#built = undefined;
      throw error;
    });
    return this.#built;
  }
}

/**
 * The gradients of attention for heads of 256 in one call, as cuDNN's `sdpa_bwd_wrapper_sm100_d256`: by name, and in the order dq, dk,
 * dv.
 * @throws InvalidShapeError, InvalidDTypeError or InvalidArgumentError naming the tensor or option; UnsupportedError when the engine
 * cannot run it.
 */
export async function sdpaBackwardD256<T extends TensorDesc>(
  engine: TensorEngine<T>,
  tensors: D256Tensors<T>,
  options: D256Options = {},
): Promise<readonly [dq: T, dk: T, dv: T] & D256Gradients<T>> {
  checkD256(tensors, options);
  const { run } = await build(engine, tensors, null, options);
  const { dq, dk, dv } = await run(tensors, null, options.scaleSoftmax);
  return Object.assign([dq, dk, dv] as const, { dq, dk, dv });
}

interface Built<T> {
  release(): void;
  run(
    tensors: D256Tensors<T>,
    gradients: D256Gradients<T> | null,
    scale: number | null | undefined,
  ): Promise<D256Gradients<T>>;
}

const gradientNames = { dq: 'q', dk: 'k', dv: 'v' } as const;

/** A graph of one operation for tensors that lie like samples, compiled. */
async function build<T extends TensorDesc>(
  engine: TensorEngine<T>,
  samples: D256Tensors<T>,
  gradients: D256Gradients<T> | null,
  options: D256Options,
): Promise<Built<T>> {
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
  // What is made for one call is the engine's to keep.
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
    if (!tensors[name]) throw new InvalidArgumentError(name, 'was not among the samples');
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

/** The tensors as an attention operation takes them: packed ones (T, H, D), and lse then (H, T). */
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

/** The longest sequences that there are: the extents, or by the cumulative lengths. */
async function longestSequences<T extends TensorDesc>(
  engine: TensorEngine<T>,
  { q, k, cumSeqlenQ, cumSeqlenK }: D256Tensors<T>,
): Promise<{ readonly q: number; readonly k: number }> {
  if (!cumSeqlenQ || !cumSeqlenK) return { q: q.shape[2], k: k.shape[2] };
  const longest = async (name: string, t: T): Promise<number> =>
    Math.max(0, ...lengthsFromCumulative(await engine.download(t), name));
  return { q: await longest('cumSeqlenQ', cumSeqlenQ), k: await longest('cumSeqlenK', cumSeqlenK) };
}

/** The band that the options mean; undefined without one. */
export function d256Window({
  isCausal = false,
  windowSize: [left, right] = [-1, -1],
}: D256Options): Window | undefined {
  const bounds = {
    ...(left >= 0 && { left }),
    ...(isCausal ? { right: 0 } : right >= 0 && { right }),
  };
  return Object.keys(bounds).length === 0 ? undefined : { ...bounds, align: 'bottom-right' };
}

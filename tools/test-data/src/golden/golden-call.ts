import type { GoldenCase } from './parse-golden.ts';
import type { RawTensor } from './raw-tensor.ts';

/**
 * Makes a tensor of whatever kind the caller tests. Without `as` the tensor is one of q, k, v, dO, and its
 * storage dtype is the caller's choice; with it the dtype is given (`bool` data arrives as u8, 1 = true).
 */
export type MakeTensor<T> = (raw: RawTensor, as?: { readonly dtype: 'f32' | 'bool' }) => T;

/** The options of `sdpa` that golden cases use, over the caller's tensor type. */
export interface GoldenOptions<T> {
  scale: number;
  causal?: true | 'bottom-right';
  window?: { left?: number; right?: number; align: 'top-left' | 'bottom-right' };
  mask?: T;
  bias?: T;
  alibi?: T;
  softcap?: number;
  sink?: T;
  seqLensQ?: readonly number[];
  seqLensKv?: readonly number[];
  cuSeqLensQ?: readonly number[];
  cuSeqLensKv?: readonly number[];
  maxSeqLenQ?: number;
  maxSeqLenKv?: number;
  dropout?: { p: number; mask: T };
}

export interface GoldenCall<T> {
  readonly q: T;
  readonly k: T;
  readonly v: T;
  readonly dO: T;
  readonly dLse?: T;
  readonly options: GoldenOptions<T>;
  /** `o lse dq dk dv`, and `dbias dAlibi dsink` if the case has them. */
  readonly expected: Readonly<Record<string, RawTensor>>;
}

const publicName: Readonly<Record<string, string>> = { dslopes: 'dAlibi' };

/** The call of `sdpa` and `sdpaBackward` that computes a golden case, and the expected results. */
export function goldenCall<T>(golden: GoldenCase, makeTensor: MakeTensor<T>): GoldenCall<T> {
  const { inputs, outputs } = golden;
  const storage = (name: string): T => makeTensor(required(golden, name));
  const { dLse } = inputs;
  return {
    q: storage('q'),
    k: storage('k'),
    v: storage('v'),
    dO: storage('dO'),
    ...(dLse && { dLse: makeTensor(dLse, { dtype: 'f32' }) }),
    options: goldenOptions(golden, makeTensor),
    expected: Object.fromEntries(
      Object.entries(outputs).map(([name, tensor]) => [publicName[name] ?? name, tensor]),
    ),
  };
}

function goldenOptions<T>({ params, inputs }: GoldenCase, makeTensor: MakeTensor<T>): GoldenOptions<T> {
  const { bias, mask, slopes, sink, keep, cuSeqQ, cuSeqKv } = inputs;
  const align = params.align === 'br' ? 'bottom-right' : 'top-left';
  const options: GoldenOptions<T> = { scale: params.scale };
  if (params.causal) options.causal = params.align === 'br' ? 'bottom-right' : true;
  // ALiBi measures its distances from the diagonal, also where no bound hides a key.
  if (params.window || slopes) {
    const [left, right] = params.window ?? [-1, -1];
    options.window = { align, ...(left >= 0 && { left }), ...(right >= 0 && { right }) };
  }
  if (mask) options.mask = makeTensor(mask, { dtype: 'bool' });
  if (bias) options.bias = makeTensor(bias, { dtype: 'f32' });
  if (slopes) options.alibi = makeTensor(slopes, { dtype: 'f32' });
  if (sink) options.sink = makeTensor(sink, { dtype: 'f32' });
  if (params.softcap > 0) options.softcap = params.softcap;
  if (params.qLens) options.seqLensQ = params.qLens;
  if (params.kvLens) options.seqLensKv = params.kvLens;
  if (cuSeqQ) options.cuSeqLensQ = [...cuSeqQ.data];
  if (cuSeqKv) options.cuSeqLensKv = [...cuSeqKv.data];
  if (params.maxSeqQ !== undefined) options.maxSeqLenQ = params.maxSeqQ;
  if (params.maxSeqKv !== undefined) options.maxSeqLenKv = params.maxSeqKv;
  if (keep) options.dropout = { p: params.dropoutP, mask: makeTensor(keep, { dtype: 'bool' }) };
  return options;
}

function required({ name: caseName, inputs }: GoldenCase, name: string): RawTensor {
  const tensor = inputs[name];
  if (!tensor) throw new Error(`The golden case ${caseName} has no input ${name}.`);
  return tensor;
}

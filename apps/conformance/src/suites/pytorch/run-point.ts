import {
  type DType,
  dtypeInfo,
  type Engine,
  elementCount,
  type GradientName,
  type SdpaOptions,
  Tensor,
  type TensorDesc,
  UnsupportedError,
} from '@tilewise/core';
import { sdpaBackwardFloat64, sdpaFloat64 } from '@tilewise/core/reference';
import { PhiloxStream } from '@tilewise/philox';
import type { Outcome } from '../../cases/case.ts';
import { type TensorError, worstOf } from '../attention/worst-error.ts';
import type { Tolerances } from './case-file.ts';
import { eager } from './eager.ts';
import type { Point } from './point.ts';
import { type Comparison, judge, roundsAtEveryStep } from './tolerance.ts';

/**
 * Runs a point forward, and backward if it has a backward pass, and judges every result by its group's rule.
 */
export async function runPoint<T extends TensorDesc>(
  engine: Engine<T>,
  point: Point,
  tol: Tolerances,
  seed: number,
): Promise<Outcome> {
  const drawn = draw(point, seed);
  const golden = goldenOf(point, drawn, roundsAtEveryStep(tol));
  try {
    const actual = await run(engine, point, drawn, golden.dO);
    const errors = [...golden.comparisons(actual.first)].map(comparison =>
      judge(comparison, tol, point.dtype, point.leniency ?? 1),
    );
    errors.push(...fullyMaskedRows(golden.lse, actual.first));
    if (actual.second) errors.push(...differences(actual.first, actual.second));
    if (point.alone) errors.push(...(await firstAlone(engine, point, drawn, actual.first)));
    const worst = worstOf(errors);
    const error = Number.isFinite(worst.ratio) ? worst.ratio : null;
    const status = worst.ratio <= 1 ? 'pass' : 'fail';
    return { status, error, reason: `${worst.tensor} ${worst.text}` };
  } catch (error) {
    if (!(error instanceof UnsupportedError)) throw error;
    return { status: 'unsupported', error: null, reason: error.reasons.join('; ') };
  }
}

interface Drawn {
  readonly q: Tensor;
  readonly k: Tensor;
  readonly v: Tensor;
  readonly dO: Tensor;
  readonly options: SdpaOptions<Tensor>;
}

type Results = Readonly<Record<string, Tensor>>;

function draw({ dims, dtype, inputs, layout, options, upstream }: Point, seed: number): Drawn {
  const { B, Hq, Hk, Sq, Skv, D, Dv } = dims;
  const stream = new PhiloxStream(BigInt(seed));
  const next = inputs === 'uniform' ? () => stream.nextU32() / 2 ** 32 : () => stream.nextNormal();
  const tensor = (...shape: number[]): Tensor => {
    const count = elementCount(shape);
    return Tensor.from(Float64Array.from({ length: count }, next), shape, { dtype });
  };
  const ones = (): Tensor =>
    Tensor.from(new Float64Array(B * Hq * Sq * Dv).fill(1), [B, Hq, Sq, Dv], { dtype });
  const operands = views(layout, tensor, { B, S: Sq, Skv, H: Hq, D });
  return {
    q: operands.q ?? tensor(B, Hq, Sq, D),
    k: operands.k ?? tensor(B, Hk, Skv, D),
    v: operands.v ?? tensor(B, Hk, Skv, Dv),
    dO: upstream === 'drawn' ? tensor(B, Hq, Sq, Dv) : ones(),
    options: options(stream),
  };
}

type Qkv = Readonly<Record<'q' | 'k' | 'v', Tensor>>;

/** q, k and v that share memory, in the given layout. */
function views(
  layout: Point['layout'],
  tensor: (...shape: number[]) => Tensor,
  { B, S, Skv, H, D }: Readonly<Record<'B' | 'S' | 'Skv' | 'H' | 'D', number>>,
): Partial<Qkv> {
  const view = (t: Tensor, S: number, strides: number[], from: number): Tensor =>
    Tensor.wrap(t.data, { dtype: t.dtype, shape: [B, H, S, D], strides, offset: from });
  switch (layout) {
    case 'packed qkv': {
      const qkv = tensor(B, S, 3, H, D);
      const part = (n: number): Tensor => view(qkv, S, [3 * S * H * D, D, 3 * H * D, 1], n * H * D);
      return { q: part(0), k: part(1), v: part(2) };
    }
    case 'one tensor': {
      const x = tensor(B, H, S, D);
      return { q: x, k: x, v: x };
    }
    case 'shared heads': {
      const kv = tensor(B, Skv, 2, D);
      const part = (n: number): Tensor => view(kv, Skv, [2 * Skv * D, 0, 2 * D, 1], n * D);
      return { k: part(0), v: part(1) };
    }
    case 'strided': {
      const padded = (S: number): Tensor =>
        tensor(B, S, H, D + 8)
          .slice(3, 0, D)
          .permute(0, 2, 1, 3);
      return { q: padded(S), k: padded(Skv), v: padded(Skv) };
    }
    default:
      return {};
  }
}

interface Golden {
  readonly dO: Tensor;
  readonly lse: Float64Array;
  comparisons(actual: Results): Generator<Comparison>;
}

function goldenOf(point: Point, { q, k, v, dO: given, options }: Drawn, everyStep: boolean): Golden {
  const { dtype } = point;
  const { o, lse } = sdpaFloat64(q, k, v, options);
  const dO = point.upstream === 'o' ? Tensor.from(o.values, o.shape, { dtype }) : given;
  const backward = (from: Tensor | typeof o): Record<string, Float64Array> => {
    if (!point.backward) return {};
    const gradients = gradientsOf(point);
    const { dCaptures = {}, ...named } = sdpaBackwardFloat64(
      { q, k, v, o: from, lse, dO },
      { ...options, gradients },
    );
    const captured = Object.entries(dCaptures).map(([name, t]) => [captureName(name), t] as const);
    const all = [...Object.entries(named), ...captured];
    return Object.fromEntries(all.map(([name, { values }]) => [name, values]));
  };
  const exact: Record<string, Float64Array> = { o: o.values, lse: lse.values, ...backward(o) };
  const fromStoredO = dtype === 'f32' ? {} : backward(Tensor.from(o.values, o.shape, { dtype }));
  const yardstick = eager(
    { q, k, v, dO, o: Tensor.from(o.values, o.shape), lse: Tensor.from(lse.values, lse.shape) },
    options,
    { backward: point.backward, products: everyStep ? dtype : 'f32', results: dtype },
  );
  return {
    dO,
    lse: lse.values,
    *comparisons(actual) {
      for (const [result, golden] of Object.entries(exact)) {
        const tensor = actual[result];
        if (!tensor) throw new Error(`${result} was not returned`);
        yield {
          result,
          actual: tensor.toFloat64(),
          golden,
          eager: yardstick[result],
          ...stored(fromStoredO[result], dtype),
        };
      }
    },
  };
}

function stored(values: Float64Array | undefined, dtype: DType): Pick<Comparison, 'fromStoredO'> {
  const { encode, decode } = dtypeInfo[dtype];
  return values ? { fromStoredO: values.map(x => decode(encode(x))) } : {};
}

/** The name of a captured tensor's gradient among the results. */
const captureName = (name: string): string => `dCaptures.${name}`;

function gradientsOf({ withBiasGradient }: Point): GradientName[] {
  return withBiasGradient ? ['dq', 'dk', 'dv', 'dbias'] : ['dq', 'dk', 'dv'];
}

async function run<T extends TensorDesc>(
  engine: Engine<T>,
  point: Point,
  { q, k, v, options }: Drawn,
  dO: Tensor,
): Promise<{ readonly first: Results; readonly second: Results | null }> {
  const held = new Set<T>();
  const hold = (tensor: T): T => {
    held.add(tensor);
    return tensor;
  };
  const up = (tensor: Tensor): T => hold(engine.upload(tensor));
  // Engines take host tensors in options.
  const given = options as SdpaOptions<T>;
  const once = async (): Promise<Results> => {
    const operands = { q: up(q), k: up(poisoned(k, point)), v: up(poisoned(v, point)) };
    const { o, lse } = await engine.sdpa(operands.q, operands.k, operands.v, given);
    hold(o);
    hold(lse);
    const results: Record<string, Tensor> = { o: await engine.download(o), lse: await engine.download(lse) };
    if (!point.backward) return results;
    const gradients = await engine.sdpaBackward(
      { ...operands, o, lse, dO: up(dO) },
      { ...given, gradients: gradientsOf(point) },
    );
    for (const name of gradientsOf(point)) {
      const gradient = gradients[name];
      if (gradient) results[name] = await engine.download(hold(gradient));
    }
    for (const [name, gradient] of Object.entries(gradients.dCaptures ?? {})) {
      results[captureName(name)] = await engine.download(hold(gradient));
    }
    return results;
  };
  try {
    return { first: await once(), second: point.repeat ? await once() : null };
  } finally {
    for (const tensor of held) engine.release(tensor);
  }
}

/** Keys or values with NaN at the positions that are not used. */
function poisoned(t: Tensor, { unusedKeys }: Point): Tensor {
  if (!unusedKeys) return t;
  const [, H, S, D] = t.shape;
  const copy = t.contiguous();
  unusedKeys.forEach((from, b) => {
    for (let h = 0; h < H; h++) {
      for (let s = from; s < S; s++) for (let d = 0; d < D; d++) copy.set(NaN, b, h, s, d);
    }
  });
  return copy;
}

/** Checks that rows without a visible key are exactly 0, in o and in dq. */
function* fullyMaskedRows(lse: Float64Array, actual: Results): Generator<TensorError> {
  for (const name of ['o', 'dq']) {
    const values = actual[name]?.toFloat64();
    if (!values || lse.length === 0) continue;
    const D = values.length / lse.length;
    const wrong = values.findIndex((x, i) => lse[Math.floor(i / D)] === -Infinity && x !== 0);
    if (wrong >= 0) {
      yield { tensor: name, ratio: Infinity, text: `holds ${values[wrong]} in a row that sees no key` };
    }
  }
}

/** Checks that the first sequence gives the same bits alone as in a batch. */
async function firstAlone<T extends TensorDesc>(
  engine: Engine<T>,
  point: Point,
  { q, k, v, dO, options }: Drawn,
  inBatch: Results,
): Promise<TensorError[]> {
  const first = (t: Tensor): Tensor => t.slice(0, 0, 1).contiguous();
  const length = (lengths: SdpaOptions<Tensor>['seqLensQ']): number[] =>
    Array.isArray(lengths) ? lengths.slice(0, 1) : [];
  const own = { ...options, seqLensQ: length(options.seqLensQ), seqLensKv: length(options.seqLensKv) };
  const sequence = { q: first(q), k: first(k), v: first(v), dO: first(dO), options: own };
  const alone = await run(engine, { ...point, repeat: false }, sequence, sequence.dO);
  return [...differences({ o: first(inBatch.o) }, alone.first)];
}

function* differences(first: Results, second: Results): Generator<TensorError> {
  for (const [name, { data }] of Object.entries(first)) {
    const bytes = (d: ArrayBufferView) => new Uint8Array(d.buffer, d.byteOffset, d.byteLength);
    if (Buffer.compare(bytes(data), bytes(second[name].data)) !== 0) {
      yield { tensor: name, ratio: Infinity, text: 'differs between two runs' };
    }
  }
}

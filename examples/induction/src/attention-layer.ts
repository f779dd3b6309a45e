import type { Engine, SdpaOptions, Tensor, TensorDesc } from '@tilewise/core';
import { fillFromHeads, headsOf, type LayerShape, splitHeads, widthOf } from './heads.ts';
import { linear, linearBackward } from './linear.ts';
import { normalParameter, type Parameter } from './parameters.ts';
import { rmsNorm, rmsNormBackward } from './rms-norm.ts';

/** One layer: y = x + attention(rmsNorm(x)·Wqkv)·Wo. */
export interface AttentionLayer {
  readonly shape: LayerShape;
  /** (width, 3·width): q, k and v beside each other. */
  readonly qkv: Parameter;
  /** (width, width) */
  readonly out: Parameter;
}

/** What backward needs of forward; tensors of type `T` live on the engine. */
export interface LayerTrace<T> {
  /** (B·S, width), as `normed` and `mixed`. */
  readonly x: Float32Array;
  readonly normed: Float32Array;
  /** o with the heads beside each other. */
  readonly mixed: Float32Array;
  readonly q: T;
  readonly k: T;
  readonly v: T;
  readonly o: T;
  readonly lse: T;
}

export function createLayer(name: string, shape: LayerShape, seed: number): AttentionLayer {
  const width = widthOf(shape);
  return {
    shape,
    qkv: normalParameter(`${name} qkv`, [width, 3 * width], width ** -0.5, seed),
    out: normalParameter(`${name} out`, [width, width], width ** -0.5, seed),
  };
}

/** q, k and v of a layer for x (B·S, width), sequences of `length` tokens; views (B, H, S, D) of one buffer. */
export function projectHeads(
  { shape, qkv }: AttentionLayer,
  normed: Float32Array,
  length: number,
): { readonly q: Tensor; readonly k: Tensor; readonly v: Tensor } {
  return splitHeads(linear(normed, qkv), shape, length);
}

/** x and y are (B·S, width), sequences of `length` tokens. */
export async function layerForward<T extends TensorDesc>(
  engine: Engine<T>,
  layer: AttentionLayer,
  x: Float32Array,
  length: number,
  options: SdpaOptions<T>,
): Promise<{ readonly y: Float32Array; readonly trace: LayerTrace<T> }> {
  const normed = rmsNorm(x, widthOf(layer.shape));
  const heads = projectHeads(layer, normed, length);
  const q = engine.upload(heads.q);
  const k = engine.upload(heads.k);
  const v = engine.upload(heads.v);
  const { o, lse } = await engine.sdpa(q, k, v, options);
  const mixed = (await engine.download(o)).permute(0, 2, 1, 3).toFloat32();
  const y = linear(mixed, layer.out);
  for (let n = 0; n < y.length; n++) y[n] += x[n];
  return { y, trace: { x, normed, mixed, q, k, v, o, lse } };
}

/** Adds to the gradients of the layer's parameters and gives dx. Releases the tensors of the trace. */
export async function layerBackward<T extends TensorDesc>(
  engine: Engine<T>,
  { shape, qkv, out }: AttentionLayer,
  { x, normed, mixed, q, k, v, o, lse }: LayerTrace<T>,
  dy: Float32Array,
  length: number,
  options: SdpaOptions<T>,
): Promise<Float32Array> {
  const dO = engine.upload(headsOf(linearBackward(mixed, out, dy), shape, length));
  const { dq, dk, dv } = await engine.sdpaBackward(
    { q, k, v, o, lse, dO },
    { ...options, gradients: ['dq', 'dk', 'dv'] },
  );
  const dQkv = new Float32Array(3 * x.length);
  const parts = splitHeads(dQkv, shape, length);
  fillFromHeads(parts.q, await engine.download(dq));
  fillFromHeads(parts.k, await engine.download(dk));
  fillFromHeads(parts.v, await engine.download(dv));
  for (const t of [q, k, v, o, lse, dO, dq, dk, dv]) engine.release(t);
  const dx = rmsNormBackward(x, normed, linearBackward(normed, qkv, dQkv), widthOf(shape));
  for (let n = 0; n < dx.length; n++) dx[n] += dy[n];
  return dx;
}

/** Releases the tensors of a trace that no backward pass will use. */
export function releaseTrace<T extends TensorDesc>(
  engine: Engine<T>,
  { q, k, v, o, lse }: LayerTrace<T>,
): void {
  for (const t of [q, k, v, o, lse]) engine.release(t);
}

import { type SdpaOptions, Tensor } from '@tilewise/core';
import { PhiloxStream } from '@tilewise/philox';
import type { PageEngine } from '../../engine/engine.ts';

/**
 * The maps that the lab shows for one head: S × S numbers each, row by row. NaN if the query does not see the
 * key.
 */
export interface HeatMaps {
  readonly scores: Float32Array;
  readonly probabilities: Float32Array;
  /** d loss / d score. */
  readonly gradients: Float32Array;
}

const headSize = 8;
const widestHead = 256;

/** q, k, v and dO of the example: random, with each query drawn towards the keys near it. */
function example(S: number): Record<'q' | 'k' | 'v' | 'dO', Tensor> {
  const stream = new PhiloxStream(7n);
  const random = (scale: number): number[] =>
    Array.from({ length: S * headSize }, () => scale * stream.nextNormal());
  const places = Array.from({ length: S * headSize }, (_, n) => {
    const [s, d] = [Math.floor(n / headSize), n % headSize];
    const angle = (s / S) * Math.PI * (1 + Math.floor(d / 2));
    return 1.1 * (d % 2 === 0 ? Math.cos(angle) : Math.sin(angle));
  });
  const shape = [1, 1, S, headSize];
  const near = (noise: number[]): Tensor =>
    Tensor.from(
      places.map((x, n) => x + (noise[n] ?? 0)),
      shape,
    );
  return {
    q: near(random(0.5)),
    k: near(random(0.5)),
    v: Tensor.from(random(1), shape),
    dO: Tensor.from(random(1), shape),
  };
}

/** P, computed in blocks of as many columns as a value vector may have. */
async function probabilitiesOf(
  engine: PageEngine,
  S: number,
  q: Tensor,
  k: Tensor,
  options: SdpaOptions,
): Promise<Float32Array> {
  const P = new Float32Array(S * S);
  for (let first = 0; first < S; first += widestHead) {
    const columns = Math.min(widestHead, S - first);
    const identity = new Float32Array(S * columns);
    for (let c = 0; c < columns; c++) identity[(first + c) * columns + c] = 1;
    const { o } = await engine.sdpa(q, k, Tensor.from(identity, [1, 1, S, columns]), options);
    const part = o.toFloat32();
    for (let i = 0; i < S; i++) P.set(part.subarray(i * columns, (i + 1) * columns), i * S + first);
  }
  return P;
}

/**
 * Scores, probabilities and score gradients under the given options, all from the engine itself: with the
 * identity for V, the output is P; the scores are ln P + lse; and the gradient of a zero bias is the gradient
 * of the scores.
 */
export async function heatMaps(engine: PageEngine, S: number, options: SdpaOptions): Promise<HeatMaps> {
  const { q, k, v, dO } = example(S);
  const withBias: SdpaOptions = { ...options, bias: Tensor.zeros([1, 1, S, S]) };
  const forward = await engine.sdpa(q, k, v, withBias);
  const { dbias } = await engine.sdpaBackward(
    { q, k, v, o: forward.o, lse: forward.lse, dO },
    { ...withBias, gradients: ['dbias'] },
  );
  const probabilities = await probabilitiesOf(engine, S, q, k, options);
  const lse = forward.lse.toFloat32();
  const seen = (n: number): boolean => (probabilities[n] ?? 0) > 0;
  const hidden = (values: Float32Array): Float32Array =>
    values.map((value, n) => (seen(n) ? value : Number.NaN));
  return {
    scores: probabilities.map((value, n) =>
      seen(n) ? Math.log(value) + (lse[Math.floor(n / S)] ?? 0) : Number.NaN,
    ),
    probabilities: hidden(probabilities),
    gradients: hidden(dbias.toFloat32()),
  };
}

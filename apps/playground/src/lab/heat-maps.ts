import { type SdpaOptions, Tensor } from '@tilewise/core';
import { PhiloxStream } from '@tilewise/philox';
import type { PageEngine } from '../engine/engine.ts';

/** What the lab shows of one head: S × S numbers each, row by row. NaN where the query does not see the key. */
export interface HeatMaps {
  readonly scores: Float32Array;
  readonly probabilities: Float32Array;
  /** d loss / d score. */
  readonly gradients: Float32Array;
}

const headSize = 8;

/** q, k, v and dO of the example: random, with a pull of each query towards the keys near it. */
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

/**
 * Scores, probabilities and score gradients under some options, all from the engine itself: with the identity for V the output is
 * P; the scores are ln P + lse; and the gradient of a bias of zeros is that of the scores.
 */
export async function heatMaps(engine: PageEngine, S: number, options: SdpaOptions): Promise<HeatMaps> {
  const { q, k, v, dO } = example(S);
  const identity = Tensor.from(
    Array.from({ length: S * S }, (_, n) => (n % (S + 1) === 0 ? 1 : 0)),
    [1, 1, S, S],
  );
  const withBias: SdpaOptions = { ...options, bias: Tensor.zeros([1, 1, S, S]) };
  const p = await engine.sdpa(q, k, identity, options);
  const forward = await engine.sdpa(q, k, v, withBias);
  const { dbias } = await engine.sdpaBackward(
    { q, k, v, o: forward.o, lse: forward.lse, dO },
    { ...withBias, gradients: ['dbias'] },
  );
  const probabilities = p.o.toFloat32();
  const lse = p.lse.toFloat32();
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

import type { Engine, GradientName, SdpaOptions, Tensor, TensorDesc } from '@tilewise/core';
import type { Point } from '../point.ts';
import type { Drawn } from './draw.ts';

/** The results of a point by name. */
export type Results = Readonly<Record<string, Tensor>>;

/** The name of a captured tensor's gradient among the results. */
export const captureName = (name: string): string => `dCaptures.${name}`;

/** The gradients that a point asks for by name. */
export function gradientsOf({ withBiasGradient }: Point): GradientName[] {
  return withBiasGradient ? ['dq', 'dk', 'dv', 'dbias'] : ['dq', 'dk', 'dv'];
}

/** Runs a point on an engine, twice if its two runs must agree. */
export async function runOnEngine<T extends TensorDesc>(
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

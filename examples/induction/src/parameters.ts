import { fillNormal } from '@tilewise/philox';

/** A trained matrix or vector and its gradient, row-major. */
export interface Parameter {
  readonly name: string;
  readonly shape: readonly number[];
  readonly value: Float32Array;
  readonly gradient: Float32Array;
}

/** A parameter drawn from a normal distribution; the name chooses the random stream, so that order does not matter. */
export function normalParameter(
  name: string,
  shape: readonly number[],
  deviation: number,
  seed: number,
): Parameter {
  const count = shape.reduce((n, extent) => n * extent, 1);
  const value = fillNormal(new Float32Array(count), { seed, subsequence: streamOf(name) });
  for (let n = 0; n < count; n++) value[n] *= deviation;
  return { name, shape, value, gradient: new Float32Array(count) };
}

/** The letters of the name as one number (FNV-1a). */
function streamOf(name: string): number {
  let hash = 0x811c9dc5;
  for (const letter of name) hash = Math.imul(hash ^ letter.charCodeAt(0), 0x01000193);
  return hash >>> 0;
}

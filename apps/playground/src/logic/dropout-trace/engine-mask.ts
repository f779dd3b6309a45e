import { Tensor } from '@tilewise/core';
import type { DropoutSchemeName, Uint } from '@tilewise/philox';
import type { PageEngine } from '../../engine/engine.ts';

/** The mask that an engine is to draw, for one head of `size` queries and keys. */
export interface DrawnMask {
  readonly scheme: DropoutSchemeName;
  readonly p: number;
  readonly seed: Uint;
  readonly offset: Uint;
  readonly size: number;
}

/**
 * The mask that an engine's attention applies, row by row, with 1 for kept elements; the engine's own kernel
 * draws it.
 */
export async function engineMask(engine: PageEngine, mask: DrawnMask): Promise<Uint8Array> {
  const { size, ...dropout } = mask;
  const zeros = Tensor.zeros([1, 1, size, 8]);
  const results = await engine.sdpa(zeros, zeros, zeros, { dropout, outputs: { dropoutMask: true } });
  return Uint8Array.from(results.dropoutMask?.toFloat32() ?? []);
}

/** The number of elements in which two masks differ. */
export function differences(a: Uint8Array, b: Uint8Array): number {
  return a.reduce((count, bit, n) => count + Number(bit !== b[n]), 0) + Math.max(0, b.length - a.length);
}

import { Tensor } from '@tilewise/core';
import type { DropoutSchemeName, Uint } from '@tilewise/philox';
import type { PageEngine } from '../../engine/engine.ts';

/** Which mask an engine is to draw, for one head of `size` queries and keys. */
export interface DrawnMask {
  readonly scheme: DropoutSchemeName;
  readonly p: number;
  readonly seed: Uint;
  readonly offset: Uint;
  readonly size: number;
}

/** The mask that an engine's attention drops with, row by row, 1 = kept: drawn by its own kernel. */
export async function engineMask(engine: PageEngine, mask: DrawnMask): Promise<Uint8Array> {
  const { size, ...dropout } = mask;
  const zeros = Tensor.zeros([1, 1, size, 8]);
  const results = await engine.sdpa(zeros, zeros, zeros, { dropout, outputs: { dropoutMask: true } });
  return Uint8Array.from(results.dropoutMask?.toFloat32() ?? []);
}

/** In how many elements two masks differ. */
export function differences(a: Uint8Array, b: Uint8Array): number {
  return a.reduce((count, bit, n) => count + Number(bit !== b[n]), 0) + Math.max(0, b.length - a.length);
}

import type { Shape, Strides } from './shape.ts';

/**
 * Tensors of equal shape in as few dimensions as possible (at least one), so that their innermost runs are
 * long.
 */
export interface Collapsed {
  readonly shape: readonly number[];
  /** The strides of each tensor. */
  readonly strides: readonly (readonly number[])[];
}

/**
 * Merges neighbouring dimensions of `shape` that are contiguous with each other in all tensors, and drops
 * dimensions of size 1.
 * @param strides the strides of each tensor, 0 along broadcast dimensions.
 */
export function collapseDimensions(shape: Shape, strides: readonly Strides[]): Collapsed {
  const kept: { extent: number; steps: number[] }[] = [];
  shape.forEach((extent, d) => {
    if (extent === 1) return;
    const steps = strides.map(own => own[d]);
    const outer = kept.at(-1);
    if (outer?.steps.every((step, n) => step === extent * steps[n])) {
      outer.extent *= extent;
      outer.steps = steps;
    } else kept.push({ extent, steps });
  });
  if (kept.length === 0) kept.push({ extent: 1, steps: strides.map(() => 0) });
  return {
    shape: kept.map(({ extent }) => extent),
    strides: strides.map((_, n) => kept.map(({ steps }) => steps[n])),
  };
}

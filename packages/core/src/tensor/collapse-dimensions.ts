import type { Shape, Strides } from './shape.ts';

/**
 * Tensors of equal shape in as few dimensions as possible, so that their lines are long; at least one
 * dimension.
 */
export interface Collapsed {
  readonly shape: readonly number[];
  /** The strides of each tensor. */
  readonly strides: readonly (readonly number[])[];
}

/**
 * Joins neighbouring dimensions of `shape` that lie in line in all tensors, and leaves out those of one
 * element.
 * @param strides of each tensor, 0 along dimensions in which it is broadcast.
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

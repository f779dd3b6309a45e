import type { Shape, Strides, TensorDesc } from '@tilewise/core';

/** The places that a kernel computes something for: so many along each dimension. At least one dimension. */
export interface IndexSpace {
  readonly extents: readonly number[];
  /** How far each tensor steps along each dimension, in elements. */
  readonly steps: Readonly<Record<string, readonly number[]>>;
  /**
   * By dimension of the shape that was asked for, the one here; null where dimensions are not what they were.
   */
  readonly dimensions: readonly number[] | null;
}

/**
 * Strides that show a tensor broadcast to `shape`, right-aligned: 0 where it has one element or no dimension.
 */
export function broadcastStrides({ shape: own, strides }: TensorDesc, shape: Shape): number[] {
  const lead = shape.length - own.length;
  return shape.map((_, d) => (d < lead || own[d - lead] === 1 ? 0 : strides[d - lead]));
}

/**
 * The space of a shape that some tensors step through, with as few dimensions as say the same: those of one
 * place are left out, and those that lie in line for all tensors become one. Dimensions are in the order of
 * the steps of `first`, largest first, so that threads in a row meet elements in a row; with no such tensor
 * as they are.
 * @param keepsDimensions for kernels that look at the places themselves: nothing is left out or joined.
 */
export function indexSpace(
  shape: Shape,
  steps: Readonly<Record<string, Strides>>,
  first: string | null,
  keepsDimensions: boolean,
): IndexSpace {
  const own = first === null ? shape.map(() => 0) : steps[first];
  const order = shape.map((_, d) => d).sort((a, b) => own[b] - own[a] || a - b);
  const names = Object.keys(steps);
  const loops: { extent: number; steps: number[] }[] = [];
  for (const d of order) {
    const inner = { extent: shape[d], steps: names.map(name => steps[name][d]) };
    const outer = loops.at(-1);
    if (!keepsDimensions && inner.extent === 1) continue;
    const isInLine =
      !keepsDimensions && outer?.steps.every((step, n) => step === inner.steps[n] * inner.extent);
    if (outer && isInLine) loops[loops.length - 1] = { ...inner, extent: outer.extent * inner.extent };
    else loops.push(inner);
  }
  if (loops.length === 0) loops.push({ extent: 1, steps: names.map(() => 0) });
  return {
    extents: loops.map(loop => loop.extent),
    steps: Object.fromEntries(names.map((name, n) => [name, loops.map(loop => loop.steps[n])])),
    dimensions: keepsDimensions ? shape.map((_, d) => order.indexOf(d)) : null,
  };
}

/**
 * Statements that declare the index along each of `rank` dimensions, `i0`, `i1`… from `from` on, of place
 * number `place`; the last dimension runs fastest. The extents are the uniforms `extent0`… of the same
 * numbers.
 */
export function splitPlace(place: string, rank: number, from = 0): string {
  const lines: string[] = [];
  let rest = place;
  for (let d = from + rank - 1; d > from; d--) {
    lines.push(`let i${d} = ${rest} % P.extent${d};`, `let rest${d} = ${rest} / P.extent${d};`);
    rest = `rest${d}`;
  }
  return [...lines, `let i${from} = ${rest};`].join('\n');
}

/** The names of those indices. */
export const indexNames = (rank: number): string[] => Array.from({ length: rank }, (_, d) => `i${d}`);

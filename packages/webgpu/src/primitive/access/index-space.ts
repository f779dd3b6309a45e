import type { Shape, Strides, TensorDesc } from '@tilewise/core';
import type { Footprint } from '@tilewise/core/engine';
import type { KernelGrid } from '../../codegen/kernel-spec.ts';

/**
 * The positions for which a kernel computes something, as an extent along each dimension. Has at least one
 * dimension.
 */
export interface IndexSpace {
  readonly extents: readonly number[];
  /** The stride of each tensor along each dimension, in elements. */
  readonly steps: Readonly<Record<string, readonly number[]>>;
  /**
   * For each dimension of the requested shape, its dimension in this space; null if dimensions were removed
   * or joined.
   */
  readonly dimensions: readonly number[] | null;
}

/**
 * The strides that broadcast a tensor to `shape`, right-aligned: 0 along dimensions in which it has one
 * element or which it lacks.
 */
export function broadcastStrides({ shape: own, strides }: TensorDesc, shape: Shape): number[] {
  const lead = shape.length - own.length;
  return shape.map((_, d) => (d < lead || own[d - lead] === 1 ? 0 : strides[d - lead]));
}

/**
 * The space of a shape through which some tensors step, with as few dimensions as possible: dimensions of
 * extent 1 are left out, and dimensions through which every tensor can step with one stride are joined.
 * Dimensions are sorted by the strides of `first`, the largest first, so that consecutive threads access
 * consecutive elements; without such a tensor, the order stays the same.
 * @param keepsDimensions for kernels that use the indices themselves: no dimension is left out or joined.
 */
export function indexSpace(
  shape: Shape,
  steps: Readonly<Record<string, Strides>>,
  first?: string,
  keepsDimensions = false,
): IndexSpace {
  const own = first === undefined ? shape.map(() => 0) : steps[first];
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

/** The workgroups that share a space, and the elements of each tensor that they touch. */
export interface DividedSpace {
  readonly groups: KernelGrid;
  readonly footprints: Readonly<Record<string, Footprint>>;
}

/**
 * How workgroups share a space, so that a dispatch of some of them may bind parts of large tensors.
 * @param perGroup the number of items of a workgroup. Consecutive workgroups have consecutive items.
 * @param items the number of all items; each stands for the same number of consecutive positions.
 * @param everywhere the names of tensors of which every workgroup may read all.
 */
export function divided(
  { extents: [count, ...extents], steps }: Pick<IndexSpace, 'extents' | 'steps'>,
  perGroup: number,
  items: number,
  everywhere: readonly string[] = [],
): DividedSpace {
  const one = { count: 1, stride: 0 };
  const footprints: Record<string, Footprint> = {};
  for (const [name, [stride, ...inner]] of Object.entries(steps)) {
    if (everywhere.includes(name)) continue;
    const span = inner.reduce((sum, step, d) => sum + (extents[d] - 1) * step, 1);
    footprints[name] = { batches: one, heads: one, rows: { count, stride }, side: 'q', inner: span };
  }
  const tiles = Math.ceil(items / perGroup);
  const rows = (perGroup * count) / items;
  return {
    groups: { batches: 1, heads: 1, tiles, side: 'q', rows },
    footprints,
  };
}

/**
 * Statements that declare the indices of position number `flat` along `rank` dimensions, `i0`, `i1`… starting
 * at number `from`; the last dimension varies fastest. The extents are the uniforms `extent0`… with the same
 * numbers. `index` and `extent` replace these names.
 */
export function unravelIndex(flat: string, rank: number, from = 0, index = 'i', extent = 'extent'): string {
  const lines: string[] = [];
  let rest = flat;
  for (let d = from + rank - 1; d > from; d--) {
    lines.push(`let ${index}${d} = ${rest} % P.${extent}${d};`, `let rest${d} = ${rest} / P.${extent}${d};`);
    rest = `rest${d}`;
  }
  return [...lines, `let ${index}${from} = ${rest};`].join('\n');
}

/** The names of these indices. */
export const indexNames = (rank: number): string[] => Array.from({ length: rank }, (_, d) => `i${d}`);

import type { Footprint } from '@tilewise/core/engine';
import type { Capabilities } from '../../device/capabilities/capabilities.ts';
import type { KernelGrid, KernelSpec, TensorSizes } from '../kernel-spec.ts';
import { type StorageBinding, tensorOf } from '../shader-part.ts';

/**
 * A run of a kernel's workgroups that is dispatched alone, with the elements [x, y) of each tensor that it
 * touches.
 */
export interface DispatchSplit {
  readonly first: number;
  readonly end: number;
  readonly windows: ReadonlyMap<string, Window>;
}

/** The first and the last index (inclusive). */
type Range = readonly [first: number, last: number];

/** From an element or workgroup to another (exclusive). */
type Window = readonly [from: number, to: number];

/** The elements [x, y) that the workgroups from `first` to `end` (exclusive) of a grid touch. */
export function windowOf(footprint: Footprint, grid: KernelGrid, first: number, end: number): Window {
  const { batches, heads, rows, inner } = footprint;
  const perBatch = grid.heads * grid.tiles;
  const batch: Range = [Math.floor(first / perBatch), Math.floor((end - 1) / perBatch)];
  const sameBatch = batch[0] === batch[1];
  const head: Range = sameBatch
    ? [Math.floor((first % perBatch) / grid.tiles), Math.floor(((end - 1) % perBatch) / grid.tiles)]
    : [0, grid.heads - 1];
  const tile: Range =
    sameBatch && head[0] === head[1] ? [first % grid.tiles, (end - 1) % grid.tiles] : [0, grid.tiles - 1];
  const [b0, b1] = grid.batches === batches.count ? batch : [0, batches.count - 1];
  const [h0, h1] = headsOf(head, grid.heads, heads.count);
  const [s0, s1] = footprint.side === grid.side ? rowsOf(tile, grid, rows.count) : [0, rows.count - 1];
  return [
    b0 * batches.stride + h0 * heads.stride + s0 * rows.stride,
    b1 * batches.stride + h1 * heads.stride + s1 * rows.stride + inner,
  ];
}

/**
 * The heads of a tensor that belong to a range of a grid's heads. One head of the grid may stand for many of
 * the tensor's, or the other way round.
 */
function headsOf([h0, h1]: Range, heads: number, count: number): Range {
  if (count % heads === 0) return [h0 * (count / heads), (h1 + 1) * (count / heads) - 1];
  if (heads % count === 0) return [Math.floor(h0 / (heads / count)), Math.floor(h1 / (heads / count))];
  return [0, count - 1];
}

function rowsOf([t0, t1]: Range, { tiles, rows, reversed }: KernelGrid, count: number): Range {
  const [from, to] = reversed ? [tiles - 1 - t1, tiles - 1 - t0] : [t0, t1];
  const last = Math.max(count - 1, 0);
  return [Math.min(Math.floor(from * rows), last), Math.min(Math.ceil((to + 1) * rows) - 1, last)];
}

/** The end of a binding is rounded up to a multiple of this many bytes, unless the buffer ends there. */
export const bindingStep = 16;

/** How much of a buffer a kernel may bind. */
export interface BindingLimit {
  /** The largest size of a binding, in bytes. */
  readonly bytes: number;
  /** The number of bytes by which a binding within a tensor may grow when its start and end are rounded. */
  readonly slack: number;
}

export function bindingLimit(capabilities: Capabilities): BindingLimit {
  const { maxStorageBufferBindingSize: bytes, minStorageBufferOffsetAlignment: alignment } = capabilities;
  return { bytes, slack: alignment + bindingStep };
}

/**
 * The smallest number of equal splits with which a kernel binds no more of any tensor than allowed. A split
 * is everything, some batch entries, some heads of one entry, or some tiles of one head. If even one tile
 * needs more, returns the name of its binding.
 */
export function dispatchSplits(
  kernel: KernelSpec,
  { spans, footprints = {} }: TensorSizes,
  limit: BindingLimit,
): readonly DispatchSplit[] | string {
  const { bindings, grid, groups } = kernel;
  const whole = new Map<string, Window>(
    bindings.map(binding => [binding.name, segmentOf(binding, [0, spans[tensorOf(binding)] ?? 0])]),
  );
  const tooLarge = ({ windows }: DispatchSplit, bytes: number): string | undefined =>
    bindings.find(({ name, elementBytes }) => {
      const [from, to] = windows.get(name) ?? [0, 0];
      return (to - from) * elementBytes > bytes;
    })?.name;
  const inside = limit.bytes - limit.slack;
  const one: DispatchSplit = { first: 0, end: groups, windows: whole };
  let found = tooLarge(one, bindings.some(({ segment }) => segment) ? inside : limit.bytes);
  if (found === undefined) return [one];
  if (!grid) return found;
  const { batches, heads, tiles, workgroups = 1 } = grid;
  const splitOf = (first: number, end: number): DispatchSplit => {
    const windows = new Map(whole);
    for (const binding of bindings) {
      const tensor = tensorOf(binding);
      const footprint = footprints[tensor];
      if (!footprint || (spans[tensor] ?? 0) === 0) continue;
      windows.set(binding.name, segmentOf(binding, windowOf(footprint, grid, first, end)));
    }
    return { first: first * workgroups, end: end * workgroups, windows };
  };
  // If one tile needs too much, so does every split, and there may be billions of tiles.
  found = tooLarge(splitOf(0, 1), inside);
  if (found !== undefined) return found;
  for (const { count, size } of [
    { count: batches, size: heads * tiles },
    { count: heads, size: tiles },
    { count: tiles, size: 1 },
  ]) {
    for (let n = count; n >= 1; n = n === 1 ? 0 : Math.ceil(n / 2)) {
      const splits: DispatchSplit[] = [];
      for (const run of cut(batches * heads * tiles, count * size, n * size)) {
        const split = splitOf(...run);
        found = tooLarge(split, inside);
        if (found !== undefined) break;
        splits.push(split);
      }
      if (found === undefined) return splits;
    }
  }
  return found ?? kernel.name;
}

/** The part of a window that a binding covers: the whole, or one segment; the last segment has the rest. */
function segmentOf({ segment }: StorageBinding, [from, to]: Window): Window {
  if (!segment) return [from, to];
  const { index, count, elements } = segment;
  const start = Math.min(to, from + index * elements);
  return [start, index === count - 1 ? to : Math.min(to, start + elements)];
}

/** Divides `total` items into runs of at most `size`, none of which crosses a multiple of `within`. */
function* cut(total: number, within: number, size: number): Generator<Window> {
  for (let at = 0; at < total; at += within) {
    for (let first = at; first < at + within; first += size)
      yield [first, Math.min(first + size, at + within)];
  }
}

/** The reason why a kernel cannot run even if it is dispatched in splits. */
export function tooLargeReason(
  { name: kernel, grid }: KernelSpec,
  tensor: string,
  { bytes }: BindingLimit,
): string {
  const least = grid ? 'a workgroup' : 'the kernel';
  const most = `maxStorageBufferBindingSize of this device, ${bytes} bytes`;
  return `${least} of '${kernel}' needs more of ${tensor} at once than ${most}`;
}

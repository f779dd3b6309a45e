import type { Kernels } from '../../../kernels/interface/kernels.ts';
import { padded, STRIP } from '../../../kernels/interface/panel.ts';
import type { Panel } from '../../../kernels/memory/memory.ts';
import type { HeadPanels } from '../../../operands/head-panels.ts';
import type { QueryTile } from '../../../operands/query-tile.ts';
import type { RowResult } from '../../../operands/row-result.ts';
import type { KeysTask } from '../../tasks.ts';
import type { ScoreTile } from '../../tiles/score-tile.ts';
import type { TileRange } from '../../tiles/tile-size.ts';
import type { PartsOfDq } from '../sums.ts';

/**
 * dq of a tile of query rows, while the keys of a task are processed. It is summed in f32, first over the
 * keys of a section and then over the sections in order, whichever threads compute them.
 */
export interface QueryGradient {
  /** Adds a tile of dS, in rows that are `ld` bytes apart, times the keys of the tile. */
  add(tile: ScoreTile, dS: Panel, ld: number, k: HeadPanels, ranges: number): void;
  /** Starts the next rows. */
  start(): void;
  /** Starts a section of the keys of a task. */
  startSection(section: TileRange, task: KeysTask): void;
  /** Adds the section to the earlier ones, for `rows` rows. */
  endSection(rows: number): void;
  /** Stores the rows, or leaves them as a part if other tasks have other keys. */
  store(task: KeysTask, queries: QueryTile): void;
  /**
   * Ends a task of `length` queries per head. If it was the last part of its heads, sums and stores all
   * parts.
   */
  endTask(task: KeysTask, length: number): void;
}

/**
 * The gradient of q, for tiles of at most `rows` of Sq rows with head size D, and for groups of `heads`
 * heads.
 */
export function createQueryGradient(
  { memory, addRows, addProduct }: Kernels,
  result: RowResult,
  { rows: maxRows, Sq, D, heads }: Readonly<Record<'rows' | 'Sq' | 'D' | 'heads', number>>,
  parts: PartsOfDq | null,
): QueryGradient {
  const width = padded(D);
  const ld = 4 * width;
  const length = Math.ceil(maxRows / STRIP) * STRIP * width;
  const sums = memory.floats(length);
  const section = memory.floats(length);
  let into = sums;

  /** The index of row i of head h in slot `slot`. */
  function indexOf(slot: number, h: number, i: number): number {
    return ((slot * heads + (h % heads)) * Sq + i) * width;
  }

  function loadPart(slot: number, h: number, i0: number, rows: number, { values }: Panel): void {
    const at = indexOf(slot, h, i0);
    if (parts) values.set(parts.sums.subarray(at, at + rows * width));
  }

  return {
    add({ rows, columns, j0, index }, dS, ldS, k, ranges) {
      const guarded = !k.load(index);
      const [panels, bytes] = [k.rowsAt(index), k.rowPanelBytes];
      addProduct(rows, width, columns, dS.at, ldS, panels, bytes, into.at, ld, ranges, j0, guarded);
    },
    start() {
      sums.values.fill(0);
    },
    startSection({ firstTile, endTile }, task) {
      // The first section of a task, or one of a single tile, needs no separate sum for the same bits.
      const isApart = firstTile > task.firstTile && endTile - firstTile > 1;
      into = isApart ? section : sums;
      if (isApart) section.values.fill(0);
    },
    endSection(rows) {
      if (into === section) addRows(rows, width, section.at, sums.at, ld);
    },
    store({ part }, { b, h, i0, rows }) {
      if (!part) result.store(b, h, i0, rows, sums.at);
      else parts?.sums.set(sums.values.subarray(0, rows * width), indexOf(part.slot, h, i0));
    },
    endTask({ group, b, first, end, part }, queries) {
      if (!part || !parts) return;
      const others = Atomics.add(parts.done, group, 1);
      if (others < part.end - part.first - 1) return;
      for (let h = first; h < end; h++) {
        for (let i0 = 0; i0 < queries; i0 += maxRows) {
          const rows = Math.min(maxRows, queries - i0);
          loadPart(part.first, h, i0, rows, sums);
          for (let slot = part.first + 1; slot < part.end; slot++) {
            loadPart(slot, h, i0, rows, section);
            addRows(rows, width, section.at, sums.at, ld);
          }
          result.store(b, h, i0, rows, sums.at);
        }
      }
    },
  };
}

import type { AttentionProblem, OperandDesc } from '@tilewise/core';
import type { TileRole } from '../tile.ts';
import type { WorkgroupTileShape } from '../workgroup/workgroup-tile.ts';

/** The fastest tile that was measured for a kernel. */
interface MeasuredTile {
  readonly role: Exclude<TileRole, 'decode'>;
  /** The dtype in which all operands are stored; `narrow`: some of them in fewer bits than f32. */
  readonly operands: 'f32' | 'f16' | 'narrow';
  /** The largest head size for which the tile was measured. */
  readonly upTo: number;
  readonly shape: WorkgroupTileShape;
}

const wide: WorkgroupTileShape = { tx: 16, ty: 16, headDimChunk: 8 };
const tall: WorkgroupTileShape = { tx: 16, ty: 16, rows: 8, headDimChunk: 4 };
const narrow: WorkgroupTileShape = { tx: 16, ty: 8, rows: 8, headDimChunk: 2 };

/**
 * The tiles that were fastest on an H100 with driver 580, or within 5 % of the fastest, at 32 heads of 4,096
 * queries and keys and head sizes of 64 and 128 (`apps/bench/results`).
 */
const measured: readonly MeasuredTile[] = [
  { role: 'forward', operands: 'f32', upTo: 128, shape: { ...wide, prefetch: true } },
  {
    ...{ role: 'forward', operands: 'f16', upTo: 128 },
    shape: {
      ...{ ...tall, headDimChunk: 8, stagingDType: 'f16' },
      ...{ rowReduction: 'subgroup', prefetch: true, unrolled: true },
    },
  },
  {
    ...{ role: 'forward', operands: 'narrow', upTo: 128 },
    shape: { ...wide, prefetch: true, unrolled: true },
  },
  { role: 'dq', operands: 'f32', upTo: 128, shape: { ...tall, prefetch: true, unrolled: true } },
  { role: 'dq', operands: 'narrow', upTo: 128, shape: { ...tall, prefetch: true, unrolled: true } },
  { role: 'dkdv', operands: 'f32', upTo: 64, shape: { ...narrow, unrolled: true } },
  { role: 'dkdv', operands: 'f32', upTo: 128, shape: { ...wide, prefetch: true } },
  { role: 'dkdv', operands: 'narrow', upTo: 64, shape: { ...narrow, prefetch: true, unrolled: true } },
  { role: 'dkdv', operands: 'narrow', upTo: 128, shape: { ...wide, unrolled: true } },
];

/** The measured tiles for a kernel, the fastest first; a device may be unable to compute some of them. */
export function nvidiaTiles(
  role: MeasuredTile['role'],
  { Dqk, Dv }: AttentionProblem,
  operands: readonly OperandDesc[],
): readonly WorkgroupTileShape[] {
  const areAll = (name: string): boolean => operands.every(({ dtype }) => dtype === name);
  return measured
    .filter(
      ({ operands: stored, upTo, ...tile }) =>
        tile.role === role &&
        Math.max(Dqk, Dv) <= upTo &&
        (stored === 'narrow' ? !areAll('f32') : areAll(stored)),
    )
    .map(({ shape }) => shape);
}

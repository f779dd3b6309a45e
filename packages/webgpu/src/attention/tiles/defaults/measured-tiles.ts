import type { AttentionProblem, OperandDesc } from '@tilewise/core';
import type { Capabilities } from '../../../device/capabilities/capabilities.ts';
import type { TileRole } from '../tile.ts';
import { workgroupKind } from '../workgroup/workgroup-kind.ts';
import type { WorkgroupTileShape } from '../workgroup/workgroup-tile.ts';

/** The fastest tile that was measured for a kernel. */
interface MeasuredTile {
  readonly role: Exclude<TileRole, 'decode'>;
  /** The dtype in which all operands are stored; `narrow` is any dtype of fewer bits than f32. */
  readonly operands: 'f32' | 'f16' | 'narrow';
  /** The largest head size for which the tile was measured. */
  readonly upTo: number;
  readonly shape: WorkgroupTileShape;
}

const wide: WorkgroupTileShape = { tx: 16, ty: 16, headDimChunk: 8 };
const tall: WorkgroupTileShape = { tx: 16, ty: 16, rows: 8, headDimChunk: 4 };
const narrow: WorkgroupTileShape = { tx: 16, ty: 8, rows: 8, headDimChunk: 2 };

/**
 * The tiles that were fastest on devices of a class, or within 5 % of the fastest, by the class's name, at 32
 * heads of 4,096 queries and keys; the first that a device can compute is used. NVIDIA: an H100 with driver
 * 580, for head sizes of 64 and 128 (`apps/bench/results`).
 */
const measured: Readonly<Record<string, readonly MeasuredTile[]>> = {
  nvidia: [
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
  ],
};

/** The measured tile of a class for a kernel, if the device can compute the kernel with it. */
export function measuredTile(
  className: string,
  role: MeasuredTile['role'],
  problem: AttentionProblem,
  operands: readonly OperandDesc[],
  capabilities: Capabilities,
): WorkgroupTileShape | null {
  const areAll = (name: string): boolean => operands.every(({ dtype }) => dtype === name);
  const channels = Math.max(problem.Dqk, problem.Dv);
  const tile = measured[className]?.find(
    ({ operands: stored, upTo, shape, ...each }) =>
      each.role === role &&
      channels <= upTo &&
      (stored === 'narrow' ? !areAll('f32') : areAll(stored)) &&
      workgroupKind.tile(shape).unsupported(role, problem, capabilities) === null,
  );
  return tile?.shape ?? null;
}

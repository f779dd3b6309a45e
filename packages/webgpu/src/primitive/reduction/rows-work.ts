import { elementCount } from '@tilewise/core';
import type { RowsPrimitive } from '@tilewise/core/primitive';
import { isCpu } from '../../device/capabilities/broadcasting.ts';
import { type DividedSpace, divided } from '../access/index-space.ts';
import type { PrimitiveTensors } from '../access/primitive-tensors.ts';
import { type ExpressionReads, expressionReads } from '../map/space-expression.ts';
import { type LaneColumns, laneColumns, type Workload } from './lane-columns.ts';
import { type ReductionSpaces, reductionSpaces } from './reduction-spaces.ts';

/** The work of reductions and maps, and how it is divided among workgroups. */
export interface RowsWork extends Pick<Workload, 'results' | 'depth'>, DividedSpace {
  readonly spaces: ReductionSpaces;
  readonly lanes: LaneColumns;
  /** What each expression reads. */
  readonly reads: readonly ExpressionReads[];
}

/** Divides the work of reductions and maps among workgroups. */
export function rowsWork(primitive: RowsPrimitive, tensors: PrimitiveTensors): RowsWork {
  const { domain, axes } = primitive;
  const exprs = [
    ...primitive.reductions.map(({ element }) => element),
    ...primitive.outputs.filter(x => typeof x !== 'number'),
  ];
  const reads = exprs.map(expressionReads);
  const spaces = reductionSpaces(domain, axes, reads, tensors);
  const { kept, reduced, space, main } = spaces;
  const [results, depth] = [elementCount(kept.extents), elementCount(reduced.extents)];
  const lanes = laneColumns({
    results,
    depth,
    keptStep: kept.steps[main].at(-1) ?? 0,
    reducedStep: reduced.steps[main].at(-1) ?? 0,
    onCpu: isCpu(tensors.capabilities),
  });
  const everywhere = reads.flatMap(({ elsewhere }) => elsewhere);
  return { spaces, lanes, results, depth, reads, ...divided(space, lanes.columns, results, everywhere) };
}

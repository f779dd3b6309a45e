import type { ShaderPart } from '../../../codegen/shader-part.ts';
import type { SubgroupMatrixConfig } from '../../../device/subgroup-matrix-configs.ts';
import type { LaneGrid } from '../tile.ts';
import type { RowStatistic } from '../tile-backend.ts';
import { statisticInSubgroup } from '../workgroup/subgroup-row-reduction.ts';
import { lanes } from './memory.ts';

/** M × K, K × N, and M × N: the matrices of a product and of its sums. */
export type MatrixKind = 'left' | 'right' | 'result';

/** Where a matrix lies in an array of vec4s in workgroup memory. */
export interface MatrixPlace {
  readonly in: string;
  /** The vec4 that it starts with. WGSL expression. */
  readonly offset: string;
  /** vec4s from one of its rows (`row_major`), or of its columns, to the next. */
  readonly stride: number;
  readonly order: 'row_major' | 'col_major';
}

/** How kernels write operations on matrices; `subgroup` and `subgroup_lane` are numbers of the subgroup and of the lane in it. */
export interface MatrixSpelling {
  /** For kernels with these pools, besides `scratch` and `weights`. */
  part(pools: readonly string[]): ShaderPart;
  /** Statements that declare `subgroup` and `subgroup_lane`, if the part does not. */
  readonly place: string;
  /** Expression: a matrix of sums, all 0. */
  readonly zero: string;
  load(kind: MatrixKind, place: MatrixPlace): string;
  /** Expression: a · b + c. */
  multiplyAccumulate(a: string, b: string, c: string): string;
  /** Statement: stores to `scratch`. */
  store(matrix: string, place: MatrixPlace): string;
  /** As `TileWork.statistic`, of rows whose lanes are neighbours in a subgroup. */
  statistic(grid: LaneGrid, statistic: RowStatistic): string;
}

/**
 * Dawn's `chromium_experimental_subgroup_matrix`; its types name columns before rows. Offsets and strides are in elements of the array, as in
 * SPIR-V. `pinned`: see `MatrixTileShape`.
 */
export function subgroupMatrices(
  { M, N, K, component }: SubgroupMatrixConfig,
  pinned = false,
): MatrixSpelling {
  const types: Readonly<Record<MatrixKind, string>> = {
    left: `subgroup_matrix_left<${component}, ${K}, ${M}>`,
    right: `subgroup_matrix_right<${component}, ${N}, ${K}>`,
    result: `subgroup_matrix_result<f32, ${N}, ${M}>`,
  };
  const part: ShaderPart = {
    directives: [
      ...(component === 'f16' ? ['enable f16;'] : []),
      'enable subgroups;',
      'enable chromium_experimental_subgroup_matrix;',
      ...(pinned ? ['enable subgroup_size_control;'] : []),
      'diagnostic(off, chromium.subgroup_matrix_uniformity);',
    ],
    attributes: pinned ? [`@subgroup_size(${lanes})`] : [],
    builtins: ['@builtin(subgroup_id) subgroup: u32', '@builtin(subgroup_invocation_id) subgroup_lane: u32'],
  };
  return {
    part: () => part,
    place: '',
    zero: `${types.result}()`,
    load: (kind, { in: array, offset, stride, order }) =>
      `subgroupMatrixLoad<${types[kind]}, ${order}>(&${array}, ${offset}, ${stride}u)`,
    multiplyAccumulate: (a, b, c) => `subgroupMatrixMultiplyAccumulate(${a}, ${b}, ${c})`,
    store: (matrix, { in: array, offset, stride, order }) =>
      `subgroupMatrixStore<${order}>(&${array}, ${offset}, ${matrix}, ${stride}u);`,
    statistic: statisticInSubgroup,
  };
}

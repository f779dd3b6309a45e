import type { SubgroupMatrixConfig } from '../../device/capabilities/subgroup-matrix-configs.ts';
import type { ShaderPart } from '../shader-part.ts';
import { lanes } from './subgroup-lanes.ts';

/** The kinds of matrices: M × K and K × N for the factors of a product, and M × N for its sums. */
export type MatrixKind = 'left' | 'right' | 'result';

/**
 * The place of a matrix in an array of vec4s in workgroup memory. A matrix of sums may be in an array of
 * vec4s of operands: a vec4 of f16 then has two sums.
 */
export interface MatrixPlace {
  /** The array: a variable, or an element of a variable that is an array of arrays, such as `tile[row]`. */
  readonly in: string;
  /** WGSL expression of the index of its first vec4. */
  readonly offset: string;
  /** The number of vec4s from one row (`row_major`) or column to the next. */
  readonly stride: number;
  readonly order: 'row_major' | 'col_major';
}

/** A variable in workgroup memory that holds matrices. */
export interface MatrixArray {
  readonly name: string;
  /** The numbers in its vec4s: in the component type of the matrices, or in f32. */
  readonly of: 'operands' | 'sums';
  /** Whether the variable is an array of arrays of vec4s, instead of one array. */
  readonly nested: boolean;
}

/** How kernels write matrix operations in WGSL. */
export interface MatrixOperations {
  /** Expression of a matrix of sums with all elements 0. */
  readonly zero: string;
  load(kind: MatrixKind, place: MatrixPlace): string;
  /** Expression of a · b + c. */
  multiplyAccumulate(a: string, b: string, c: string): string;
  /** Statement that stores a matrix of sums. */
  store(matrix: string, place: MatrixPlace): string;
}

/** The matrix operations of a kernel in WGSL, and the declarations that they need. */
export interface MatrixInstructions extends MatrixOperations {
  /** Further declarations of kernels whose matrices are in these arrays. */
  part(arrays: readonly MatrixArray[]): ShaderPart;
  /** Statements that declare `subgroup` and `subgroup_lane`, if the part does not declare them. */
  readonly declareSubgroup: string;
}

/**
 * Dawn's extension `chromium_experimental_subgroup_matrix`. Its types name columns before rows. Offsets and
 * strides are in elements of the array, as in SPIR-V.
 */
export function subgroupMatrices({ M, N, K, component }: SubgroupMatrixConfig): MatrixOperations {
  const types: Readonly<Record<MatrixKind, string>> = {
    left: `subgroup_matrix_left<${component}, ${K}, ${M}>`,
    right: `subgroup_matrix_right<${component}, ${N}, ${K}>`,
    result: `subgroup_matrix_result<f32, ${N}, ${M}>`,
  };
  return {
    zero: `${types.result}()`,
    load: (kind, { in: array, offset, stride, order }) =>
      `subgroupMatrixLoad<${types[kind]}, ${order}>(&${array}, ${offset}, ${stride}u)`,
    multiplyAccumulate: (a, b, c) => `subgroupMatrixMultiplyAccumulate(${a}, ${b}, ${c})`,
    store: (matrix, { in: array, offset, stride, order }) =>
      `subgroupMatrixStore<${order}>(&${array}, ${offset}, ${matrix}, ${stride}u);`,
  };
}

/**
 * Enables the extensions that subgroup matrices need. Declares `subgroup`, the number of the subgroup in its
 * workgroup, and `subgroup_lane`, the number of the lane in its subgroup.
 *
 * @param pinned whether kernels request subgroups of 32 lanes, for which the device needs the feature
 * `subgroup-size-control`.
 */
export const subgroupMatrixPart = (
  { component }: Pick<SubgroupMatrixConfig, 'component'>,
  pinned: boolean,
): ShaderPart => ({
  directives: [
    ...(component === 'f16' ? ['enable f16;'] : []),
    'enable subgroups;',
    'enable chromium_experimental_subgroup_matrix;',
    ...(pinned ? ['enable subgroup_size_control;'] : []),
    'diagnostic(off, chromium.subgroup_matrix_uniformity);',
  ],
  attributes: pinned ? [`@subgroup_size(${lanes})`] : [],
  builtins: ['@builtin(subgroup_id) subgroup: u32', '@builtin(subgroup_invocation_id) subgroup_lane: u32'],
});

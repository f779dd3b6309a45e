import type { ShaderPart } from '../kernel/shader-part.ts';
import { type MatrixShape, type MatrixTile, matrixTileSizes } from './tile.ts';

/** M × K, K × N, and M × N: the matrices of a product and of its sums. */
export type MatrixKind = 'left' | 'right' | 'result';

/** The arrays in workgroup memory that matrices are loaded from and stored to. */
export type MatrixArray = 'pool' | 'scratch' | 'weights';

/** Where a matrix lies: its first element, and how far apart its rows (`row_major`) or its columns are. */
export interface MatrixPlace {
  readonly in: MatrixArray;
  /** WGSL expression. */
  readonly offset: string;
  readonly stride: number;
  readonly order: 'row_major' | 'col_major';
}

/** How kernels write operations on matrices; `subgroup` and `subgroup_lane` are numbers of the subgroup and of the lane in it. */
export interface MatrixSpelling {
  readonly part: ShaderPart;
  /** Statements that declare `subgroup` and `subgroup_lane`, if the part does not. */
  readonly place: string;
  /** Expression: a matrix of sums, all 0. */
  readonly zero: string;
  load(kind: MatrixKind, place: MatrixPlace): string;
  /** Expression: a · b + c. */
  multiplyAccumulate(a: string, b: string, c: string): string;
  /** Statement. */
  store(matrix: string, place: MatrixPlace): string;
}

export const matrixSpelling = ({ matrix, subgroups, emulated }: MatrixTile): MatrixSpelling =>
  emulated ? plainFunctions(matrix, subgroups) : subgroupMatrices(matrix);

/** Dawn's `chromium_experimental_subgroup_matrix`; its types name columns before rows. */
function subgroupMatrices({ M, N, K, component }: MatrixShape): MatrixSpelling {
  const types: Readonly<Record<MatrixKind, string>> = {
    left: `subgroup_matrix_left<${component}, ${K}, ${M}>`,
    right: `subgroup_matrix_right<${component}, ${N}, ${K}>`,
    result: `subgroup_matrix_result<f32, ${N}, ${M}>`,
  };
  return {
    part: {
      directives: [
        ...(component === 'f16' ? ['enable f16;'] : []),
        'enable subgroups;',
        'enable chromium_experimental_subgroup_matrix;',
        'diagnostic(off, chromium.subgroup_matrix_uniformity);',
      ],
      builtins: [
        '@builtin(subgroup_id) subgroup: u32',
        '@builtin(subgroup_invocation_id) subgroup_lane: u32',
      ],
    },
    place: '',
    zero: `${types.result}()`,
    load: (kind, { in: array, offset, stride, order }) =>
      `subgroupMatrixLoad<${types[kind]}, ${order}>(&${array}, ${offset}, ${stride}u)`,
    multiplyAccumulate: (a, b, c) => `subgroupMatrixMultiplyAccumulate(${a}, ${b}, ${c})`,
    store: (matrix, { in: array, offset, stride, order }) =>
      `subgroupMatrixStore<${order}>(&${array}, ${offset}, ${matrix}, ${stride}u);`,
  };
}

/** The same for any device, and slow: each lane holds some elements of a matrix, and the lanes show each other theirs to multiply. */
function plainFunctions({ M, N, K, component }: MatrixShape, subgroups: number): MatrixSpelling {
  const { lanes } = matrixTileSizes;
  const columns: Readonly<Record<MatrixKind, number>> = { left: K, right: N, result: N };
  const elements: Readonly<Record<MatrixKind, number>> = {
    left: (M * K) / lanes,
    right: (K * N) / lanes,
    result: (M * N) / lanes,
  };
  const load = (kind: MatrixKind, array: MatrixArray): string =>
    `fn load_${kind}_${array}(lane: u32, offset: u32, row_stride: u32, column_stride: u32) -> array<f32, ${elements[kind]}> {
  var matrix = array<f32, ${elements[kind]}>();
  for (var e = 0u; e < ${elements[kind]}u; e++) {
    let n = lane % ${lanes}u * ${elements[kind]}u + e;
    matrix[e] = f32(${array}[offset + n / ${columns[kind]}u * row_stride + n % ${columns[kind]}u * column_stride]);
  }
  return matrix;
}`;
  return {
    part: {
      directives: component === 'f16' ? ['enable f16;'] : [],
      code: `var<workgroup> shown_left: array<f32, ${M * K * subgroups}>;
var<workgroup> shown_right: array<f32, ${K * N * subgroups}>;

${load('left', 'pool')}

${load('left', 'weights')}

${load('right', 'pool')}

${load('result', 'scratch')}

fn store_scratch(lane: u32, matrix: array<f32, ${elements.result}>, offset: u32, row_stride: u32) {
  for (var e = 0u; e < ${elements.result}u; e++) {
    let n = lane % ${lanes}u * ${elements.result}u + e;
    scratch[offset + n / ${N}u * row_stride + n % ${N}u] = matrix[e];
  }
}

fn multiply_accumulate(
  lane: u32,
  a: array<f32, ${elements.left}>,
  b: array<f32, ${elements.right}>,
  c: array<f32, ${elements.result}>,
) -> array<f32, ${elements.result}> {
  let left = lane / ${lanes}u * ${M * K}u;
  let right = lane / ${lanes}u * ${K * N}u;
  let own = lane % ${lanes}u;
  for (var e = 0u; e < ${elements.left}u; e++) {
    shown_left[left + own * ${elements.left}u + e] = a[e];
  }
  for (var e = 0u; e < ${elements.right}u; e++) {
    shown_right[right + own * ${elements.right}u + e] = b[e];
  }
  workgroupBarrier();
  var sum = c;
  for (var e = 0u; e < ${elements.result}u; e++) {
    let n = own * ${elements.result}u + e;
    for (var k = 0u; k < ${K}u; k++) {
      sum[e] += shown_left[left + n / ${N}u * ${K}u + k] * shown_right[right + k * ${N}u + n % ${N}u];
    }
  }
  workgroupBarrier();
  return sum;
}`,
    },
    place: `let subgroup = lane / ${lanes}u;\n  let subgroup_lane = lane % ${lanes}u;`,
    zero: `array<f32, ${elements.result}>()`,
    load: (kind, { in: array, offset, stride, order }) =>
      `load_${kind}_${array}(lane, ${offset}, ${order === 'row_major' ? `${stride}u, 1u` : `1u, ${stride}u`})`,
    multiplyAccumulate: (a, b, c) => `multiply_accumulate(lane, ${a}, ${b}, ${c})`,
    store: (matrix, { offset, stride }) => `store_scratch(lane, ${matrix}, ${offset}, ${stride}u);`,
  };
}

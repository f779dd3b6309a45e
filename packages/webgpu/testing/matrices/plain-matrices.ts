import type {
  MatrixArray,
  MatrixKind,
  MatrixSpelling,
} from '../../src/codegen/matrices/matrix-operations.ts';
import { lanes } from '../../src/codegen/matrices/subgroup-lanes.ts';
import type { SubgroupMatrixConfig } from '../../src/device/capabilities/subgroup-matrix-configs.ts';

/**
 * Matrix operations for any device, but slow: each lane holds some elements of a matrix, and lanes share them
 * to multiply. On devices without subgroup matrices, kernels for matrices are tested with these operations.
 */
export function plainMatrices(
  { M, N, K, component }: SubgroupMatrixConfig,
  subgroups: number,
): MatrixSpelling {
  const columns: Readonly<Record<MatrixKind, number>> = { left: K, right: N, result: N };
  const elements: Readonly<Record<MatrixKind, number>> = {
    left: (M * K) / lanes,
    right: (K * N) / lanes,
    result: (M * N) / lanes,
  };
  const access = ({ name, nested }: MatrixArray): string =>
    `${name}${nested ? '[part]' : ''}[at / 4u][at % 4u]`;
  const load = (kind: MatrixKind, array: MatrixArray): string =>
    `fn load_${kind}_${array.name}(lane: u32, part: u32, offset: u32, row_stride: u32, column_stride: u32) -> array<f32, ${elements[kind]}> {
  var matrix = array<f32, ${elements[kind]}>();
  for (var e = 0u; e < ${elements[kind]}u; e++) {
    let n = lane % ${lanes}u * ${elements[kind]}u + e;
    let at = 4u * offset + n / ${columns[kind]}u * row_stride + n % ${columns[kind]}u * column_stride;
    matrix[e] = f32(${access(array)});
  }
  return matrix;
}`;
  const store = (array: MatrixArray): string =>
    `fn store_${array.name}(lane: u32, part: u32, offset: u32, matrix: array<f32, ${elements.result}>, row_stride: u32, column_stride: u32) {
  for (var e = 0u; e < ${elements.result}u; e++) {
    let n = lane % ${lanes}u * ${elements.result}u + e;
    let at = 4u * offset + n / ${N}u * row_stride + n % ${N}u * column_stride;
    ${access(array)} = matrix[e];
  }
}`;
  const functionsOf = (array: MatrixArray): string =>
    array.holds === 'operands'
      ? `${load('left', array)}\n\n${load('right', array)}`
      : `${load('result', array)}\n\n${store(array)}`;
  return {
    part: arrays => ({
      directives: component === 'f16' ? ['enable f16;'] : [],
      code: `var<workgroup> shown: array<f32, ${(M * K + K * N) * subgroups}>;

${arrays.map(functionsOf).join('\n\n')}

fn multiply_accumulate(
  lane: u32,
  a: array<f32, ${elements.left}>,
  b: array<f32, ${elements.right}>,
  c: array<f32, ${elements.result}>,
) -> array<f32, ${elements.result}> {
  let first = lane / ${lanes}u * ${M * K + K * N}u;
  let own = lane % ${lanes}u;
  for (var e = 0u; e < ${elements.left}u; e++) {
    shown[first + own * ${elements.left}u + e] = a[e];
  }
  for (var e = 0u; e < ${elements.right}u; e++) {
    shown[first + ${M * K}u + own * ${elements.right}u + e] = b[e];
  }
  workgroupBarrier();
  var sum = c;
  for (var e = 0u; e < ${elements.result}u; e++) {
    let n = own * ${elements.result}u + e;
    let row = first + n / ${N}u * ${K}u;
    let column = first + ${M * K}u + n % ${N}u;
    var total = c[e];
    for (var k = 0u; k < ${K}u; k++) {
      total += shown[row + k] * shown[column + k * ${N}u];
    }
    sum[e] = total;
  }
  workgroupBarrier();
  return sum;
}`,
    }),
    place: `let subgroup = lane / ${lanes}u;\n  let subgroup_lane = lane % ${lanes}u;`,
    zero: `array<f32, ${elements.result}>()`,
    load: (kind, { in: array, offset, stride, order }) =>
      `load_${kind}_${nameAndPart(array)}, ${offset}, ${stridesOf(stride, order)})`,
    multiplyAccumulate: (a, b, c) => `multiply_accumulate(lane, ${a}, ${b}, ${c})`,
    store: (matrix, { in: array, offset, stride, order }) =>
      `store_${nameAndPart(array)}, ${offset}, ${matrix}, ${stridesOf(stride, order)});`,
  };
}

/** The name of an array, and the first arguments of its functions: the lane, and the element of the array. */
function nameAndPart(array: string): string {
  const [, name, part = '0u'] = /^(\w+)(?:\[(.+)\])?$/.exec(array) ?? [];
  return `${name}(lane, ${part}`;
}

/** The distances from one row, and from one column, to the next, in elements. */
const stridesOf = (stride: number, order: 'row_major' | 'col_major'): string =>
  order === 'row_major' ? `${4 * stride}u, 1u` : `1u, ${4 * stride}u`;

import { lanes } from '../src/attention/matrix-layout.ts';
import type { MatrixArray, MatrixKind, MatrixSpelling } from '../src/attention/matrix-spelling.ts';
import { statisticInMemory } from '../src/attention/workgroup-statistics.ts';
import type { MatrixShape } from '../src/kernel/matrix-shape.ts';

/**
 * Operations on matrices for any device, and slow: each lane holds some elements of a matrix, and the lanes show each other theirs to
 * multiply. Kernels for matrices are checked with it where there are none.
 */
export function plainMatrices({ M, N, K, component }: MatrixShape, subgroups: number): MatrixSpelling {
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
      code: `var<workgroup> row_partial: array<f32, ${lanes * subgroups}>;
var<workgroup> shown_left: array<f32, ${M * K * subgroups}>;
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
    statistic: statisticInMemory,
  };
}

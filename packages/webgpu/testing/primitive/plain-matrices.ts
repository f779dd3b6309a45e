import { lanes, type MatrixKind, type MatrixSpelling } from '../../src/attention/tiles/matrix/shape.ts';
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
  const load = (kind: MatrixKind, array: string): string =>
    `fn load_${kind}_${array}(lane: u32, offset: u32, row_stride: u32, column_stride: u32) -> array<f32, ${elements[kind]}> {
  var matrix = array<f32, ${elements[kind]}>();
  for (var e = 0u; e < ${elements[kind]}u; e++) {
    let n = lane % ${lanes}u * ${elements[kind]}u + e;
    let at = 4u * offset + n / ${columns[kind]}u * row_stride + n % ${columns[kind]}u * column_stride;
    matrix[e] = f32(${array === 'scratch' ? `scratch[lane / ${lanes}u]` : array}[at / 4u][at % 4u]);
  }
  return matrix;
}`;
  return {
    part: pools => ({
      directives: component === 'f16' ? ['enable f16;'] : [],
      code: `var<workgroup> notes: atomic<u32>;
var<workgroup> row_partial: array<f32, ${lanes * subgroups}>;
var<workgroup> shown: array<f32, ${K * Math.max(M, N) * subgroups}>;

${pools.map(pool => `${load('left', pool)}\n\n${load('right', pool)}`).join('\n\n')}

${load('left', 'weights')}

${load('right', 'weights')}

${load('result', 'scratch')}

fn store_scratch(lane: u32, matrix: array<f32, ${elements.result}>, offset: u32, row_stride: u32) {
  for (var e = 0u; e < ${elements.result}u; e++) {
    let n = lane % ${lanes}u * ${elements.result}u + e;
    let at = 4u * offset + n / ${N}u * row_stride + n % ${N}u;
    scratch[lane / ${lanes}u][at / 4u][at % 4u] = matrix[e];
  }
}

fn multiply_accumulate(
  lane: u32,
  a: array<f32, ${elements.left}>,
  b: array<f32, ${elements.right}>,
  c: array<f32, ${elements.result}>,
) -> array<f32, ${elements.result}> {
  let first = lane / ${lanes}u * ${K * Math.max(M, N)}u;
  let own = lane % ${lanes}u;
  for (var e = 0u; e < ${elements.left}u; e++) {
    shown[first + own * ${elements.left}u + e] = a[e];
  }
  workgroupBarrier();
  // All sums of a lane are of one row.
  var row = array<f32, ${K}>();
  for (var k = 0u; k < ${K}u; k++) {
    row[k] = shown[first + own * ${elements.result}u / ${N}u * ${K}u + k];
  }
  workgroupBarrier();
  for (var e = 0u; e < ${elements.right}u; e++) {
    shown[first + own * ${elements.right}u + e] = b[e];
  }
  workgroupBarrier();
  var sum = c;
  for (var e = 0u; e < ${elements.result}u; e++) {
    for (var k = 0u; k < ${K}u; k++) {
      sum[e] += row[k] * shown[first + k * ${N}u + (own * ${elements.result}u + e) % ${N}u];
    }
  }
  workgroupBarrier();
  return sum;
}`,
    }),
    place: `let subgroup = lane / ${lanes}u;\n  let subgroup_lane = lane % ${lanes}u;`,
    zero: `array<f32, ${elements.result}>()`,
    load: (kind, { in: array, offset, stride, order }) =>
      `load_${kind}_${array}(lane, ${offset}, ${order === 'row_major' ? `${4 * stride}u, 1u` : `1u, ${4 * stride}u`})`,
    multiplyAccumulate: (a, b, c) => `multiply_accumulate(lane, ${a}, ${b}, ${c})`,
    store: (matrix, { offset, stride }) => `store_scratch(lane, ${matrix}, ${offset}, ${4 * stride}u);`,
    joinNotes: own => `if (${own} != 0u) {
      atomicOr(&notes, ${own});
    }
    noted = workgroupUniformLoad(&notes);
    if (lane == 0u) {
      atomicStore(&notes, 0u);
    }`,
    // A lane has one row or half of a row.
    reduceRows: ({ tx }, { name, own, join, identity }) => `workgroupBarrier();
    row_partial[ty * ${tx}u + tx] = ${own(0)};
    workgroupBarrier();
    var ${name}0 = ${identity};
    for (var x = 0u; x < ${tx}u; x++) {
      ${name}0 = ${join(`${name}0`, `row_partial[ty * ${tx}u + x]`)};
    }`,
  };
}

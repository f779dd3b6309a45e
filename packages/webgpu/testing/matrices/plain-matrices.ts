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
  const halves = component === 'f16';
  /** The number of sums in a vec4 of an array. */
  const sumsIn = ({ of }: MatrixArray): number => (halves && of === 'operands' ? 2 : 4);
  const vectorAt = ({ name, nested }: MatrixArray, at: string): string =>
    `${name}${nested ? '[part]' : ''}[${at}]`;
  /** Declares `at`, the index of element n of a matrix among the numbers of an array. */
  const place = (kind: MatrixKind, perVector: number): string =>
    `let n = lane % ${lanes}u * ${elements[kind]}u + e;
    let line = select(n % ${columns[kind]}u, n / ${columns[kind]}u, by_rows);
    let at = ${perVector}u * (offset + line * stride) + select(n / ${columns[kind]}u, n % ${columns[kind]}u, by_rows);`;
  const load = (kind: MatrixKind, array: MatrixArray): string => {
    const perVector = kind === 'result' ? sumsIn(array) : 4;
    const vector = vectorAt(array, `at / ${perVector}u`);
    return `fn load_${kind}_${array.name}(lane: u32, part: u32, offset: u32, stride: u32, by_rows: bool) -> array<f32, ${elements[kind]}> {
  var matrix = array<f32, ${elements[kind]}>();
  for (var e = 0u; e < ${elements[kind]}u; e++) {
    ${place(kind, perVector)}
    matrix[e] = f32(${perVector === 2 ? `bitcast<vec2f>(${vector})[at % 2u]` : `${vector}[at % 4u]`});
  }
  return matrix;
}`;
  };
  const store = (array: MatrixArray): string => {
    const perVector = sumsIn(array);
    const vector = vectorAt(array, `at / ${perVector}u`);
    // A lane has adjacent elements of a row, so no other lane stores to the same vector.
    const assign =
      perVector === 2
        ? `var two = bitcast<vec2f>(${vector});
    two[at % 2u] = matrix[e];
    ${vector} = bitcast<vec4<f16>>(two);`
        : `${vector}[at % 4u] = matrix[e];`;
    return `fn store_${array.name}(lane: u32, part: u32, offset: u32, matrix: array<f32, ${elements.result}>, stride: u32, by_rows: bool) {
  for (var e = 0u; e < ${elements.result}u; e++) {
    ${place('result', perVector)}
    ${assign}
  }
}`;
  };
  const functionsOf = (array: MatrixArray): string =>
    [
      ...(array.of === 'operands' ? [load('left', array), load('right', array)] : []),
      ...[load('result', array), store(array)],
    ].join('\n\n');
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
      `load_${kind}_${nameAndPart(array)}, ${offset}, ${stride}u, ${order === 'row_major'})`,
    multiplyAccumulate: (a, b, c) => `multiply_accumulate(lane, ${a}, ${b}, ${c})`,
    store: (matrix, { in: array, offset, stride, order }) =>
      `store_${nameAndPart(array)}, ${offset}, ${matrix}, ${stride}u, ${order === 'row_major'});`,
  };
}

/** The name of an array, and the first arguments of its functions: the lane, and the element of the array. */
function nameAndPart(array: string): string {
  const [, name, part = '0u'] = /^(\w+)(?:\[(.+)\])?$/.exec(array) ?? [];
  return `${name}(lane, ${part}`;
}

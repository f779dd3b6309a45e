import type {
  MatrixArray,
  MatrixInstructions,
  MatrixKind,
} from '../../src/codegen/matrices/matrix-operations.ts';
import { lanes } from '../../src/codegen/matrices/subgroup-lanes.ts';
import type { SubgroupMatrixConfig } from '../../src/device/capabilities/subgroup-matrix-configs.ts';

/**
 * Matrix operations for any device, but slow. A lane computes a block of a matrix of sums, and holds the rows
 * and columns of the factors that the block needs. The operations have no barriers, so that a barrier missing
 * in a kernel can be found. The first lane computes the last block, so that lanes seldom load what they have
 * stored themselves, which would be right without a barrier.
 */
export function plainMatrices({ M, N, K, component }: SubgroupMatrixConfig): MatrixInstructions {
  /** The numbers of rows and columns in the block of sums that a lane computes. */
  const rows = (M * N) / lanes / 2;
  const columns = 2;
  const firstRow = `block / ${N / columns}u * ${rows}u`;
  const firstColumn = `block % ${N / columns}u * ${columns}u`;
  /**
   * The part of a matrix that a lane holds: its numbers of rows and columns, and WGSL expressions of its
   * first row and column.
   */
  const held: Readonly<Record<MatrixKind, { size: [number, number]; row: string; column: string }>> = {
    left: { size: [rows, K], row: firstRow, column: '0u' },
    right: { size: [K, columns], row: '0u', column: firstColumn },
    result: { size: [rows, columns], row: firstRow, column: firstColumn },
  };
  const typeOf = (kind: MatrixKind): string =>
    `array<array<f32, ${held[kind].size[1]}>, ${held[kind].size[0]}>`;
  const halves = component === 'f16';
  /** The number of sums in a vec4 of an array. */
  const sumsIn = ({ of }: MatrixArray): number => (halves && of === 'operands' ? 2 : 4);
  const vectorAt = ({ name, nested }: MatrixArray, at: string): string =>
    `${name}${nested ? '[part]' : ''}[${at}]`;
  /**
   * WGSL: a loop that runs `statement` for each element that a lane holds. `matrix[r][c]` is the element, and
   * `at` its index among the numbers of an array.
   */
  const eachElement = (kind: MatrixKind, perVector: number, statement: string): string => {
    const { size, row, column } = held[kind];
    return `let block = ${lanes - 1}u - lane % ${lanes}u;
  let first_row = ${row};
  let first_column = ${column};
  for (var r = 0u; r < ${size[0]}u; r++) {
    for (var c = 0u; c < ${size[1]}u; c++) {
      let line = select(first_column + c, first_row + r, by_rows);
      let at = ${perVector}u * (offset + line * stride) + select(first_row + r, first_column + c, by_rows);
      ${statement}
    }
  }`;
  };
  const load = (kind: MatrixKind, array: MatrixArray): string => {
    const perVector = kind === 'result' ? sumsIn(array) : 4;
    const vector = vectorAt(array, `at / ${perVector}u`);
    const element = perVector === 2 ? `bitcast<vec2f>(${vector})[at % 2u]` : `${vector}[at % 4u]`;
    return `fn load_${kind}_${array.name}(lane: u32, part: u32, offset: u32, stride: u32, by_rows: bool) -> ${typeOf(kind)} {
  var matrix = ${typeOf(kind)}();
  ${eachElement(kind, perVector, `matrix[r][c] = f32(${element});`)}
  return matrix;
}`;
  };
  const store = (array: MatrixArray): string => {
    const perVector = sumsIn(array);
    const vector = vectorAt(array, `at / ${perVector}u`);
    // The two sums in a vec4<f16> are of one lane, so no other lane stores to the vector.
    const assign =
      perVector === 2
        ? `var two = bitcast<vec2f>(${vector});
      two[at % 2u] = matrix[r][c];
      ${vector} = bitcast<vec4<f16>>(two);`
        : `${vector}[at % 4u] = matrix[r][c];`;
    return `fn store_${array.name}(lane: u32, part: u32, offset: u32, matrix: ${typeOf('result')}, stride: u32, by_rows: bool) {
  ${eachElement('result', perVector, assign)}
}`;
  };
  const functionsOf = (array: MatrixArray): string =>
    [
      ...(array.of === 'operands' ? [load('left', array), load('right', array)] : []),
      ...[load('result', array), store(array)],
    ].join('\n\n');
  return {
    part: arrays => ({
      directives: halves ? ['enable f16;'] : [],
      code: `${arrays.map(functionsOf).join('\n\n')}

fn multiply_accumulate(a: ${typeOf('left')}, b: ${typeOf('right')}, c: ${typeOf('result')}) -> ${typeOf('result')} {
  var sum = c;
  for (var r = 0u; r < ${rows}u; r++) {
    for (var n = 0u; n < ${columns}u; n++) {
      for (var k = 0u; k < ${K}u; k++) {
        sum[r][n] += a[r][k] * b[k][n];
      }
    }
  }
  return sum;
}`,
    }),
    declareSubgroup: `let subgroup = lane / ${lanes}u;\n  let subgroup_lane = lane % ${lanes}u;`,
    zero: `${typeOf('result')}()`,
    load: (kind, { in: array, offset, stride, order }) =>
      `load_${kind}_${nameAndPart(array)}, ${offset}, ${stride}u, ${order === 'row_major'})`,
    multiplyAccumulate: (a, b, c) => `multiply_accumulate(${a}, ${b}, ${c})`,
    store: (matrix, { in: array, offset, stride, order }) =>
      `store_${nameAndPart(array)}, ${offset}, ${matrix}, ${stride}u, ${order === 'row_major'});`,
  };
}

/** The name of an array, and the first arguments of its functions: the lane, and the element of the array. */
function nameAndPart(array: string): string {
  const [, name, part = '0u'] = /^(\w+)(?:\[(.+)\])?$/.exec(array) ?? [];
  return `${name}(lane, ${part}`;
}

import type { MatmulCandidate } from './candidate.ts';

/** An M × K by K × N product that a subgroup computes at once. */
export interface SubgroupMatrix {
  readonly M: number;
  readonly N: number;
  readonly K: number;
}

const each = (n: number, text: (k: number) => string): string =>
  Array.from({ length: n }, (_, k) => text(k)).join('\n    ');

/**
 * Two subgroups down and some across, each with 64 × 64 of C; operands are staged in workgroup memory or read
 * from storage directly.
 */
export interface MatrixTile {
  readonly across: 2 | 4;
  /** The number of steps of the sum that are staged together. */
  readonly depth: number;
  readonly staged: boolean;
}

/**
 * C = A·B on f16 subgroup matrices with f32 sums, in Dawn's dialect. The size is a multiple of 256.
 */
export function subgroupMatrixMatmul(
  size: number,
  matrix: SubgroupMatrix,
  maxSubgroupSize: number,
  tile: MatrixTile,
): MatmulCandidate {
  const { M, N, K } = matrix;
  const { across, depth, staged } = tile;
  const lanes = 2 * across * maxSubgroupSize;
  const [height, width] = [128, 64 * across];
  const sums = { ...matrix, rows: 64 / M, columns: 64 / N };
  const { declarations, before, step } = staged
    ? stagedSteps(size, sums, tile, lanes)
    : directSteps(size, sums, tile);
  const element = staged ? 'vec4<f16>' : 'f16';
  const wgsl = `enable f16;
enable subgroups;
enable chromium_experimental_subgroup_matrix;
@group(0) @binding(0) var<storage, read> A: array<${element}>;
@group(0) @binding(1) var<storage, read> B: array<${element}>;
@group(0) @binding(2) var<storage, read_write> C: array<f32>;
${declarations}
@compute @workgroup_size(${lanes})
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(local_invocation_index) lane: u32,
  @builtin(subgroup_id) subgroup: u32,
) {
  let m0 = group.y * ${height}u;
  let n0 = group.x * ${width}u;
  // If subgroups are smaller than the largest, several compute the same part of C.
  let my_rows = subgroup / ${across}u % 2u;
  let my_columns = subgroup % ${across}u;
  ${cells(sums, (r, c) => `var c${r}_${c} = subgroup_matrix_result<f32, ${N}, ${M}>();`)}
  ${before}
  for (var k0 = 0u; k0 < ${size}u; k0 += ${depth}u) {
    ${step}
  }
  ${cells(sums, (r, c) => `subgroupMatrixStore<row_major>(&C, (m0 + my_rows * 64u + ${r * M}u) * ${size}u + n0 + my_columns * 64u + ${c * N}u, c${r}_${c}, ${size}u);`)}
}
`;
  return {
    name: `${M}×${N}×${K}, ${staged ? 'staged' : 'direct'} ${height}×${width}×${depth}, ${lanes} lanes`,
    ...{ precision: 'subgroup matrix', storage: 'f16', wgsl, groups: [size / width, size / height] },
  };
}

/** The sums of a subgroup: rows by columns of matrices. */
interface Sums extends SubgroupMatrix {
  readonly rows: number;
  readonly columns: number;
}

/** A kernel's declarations, its statements before the first step of the sum, and those of each step. */
interface Steps {
  readonly declarations: string;
  readonly before: string;
  readonly step: string;
}

const cells = ({ rows, columns }: Sums, text: (r: number, c: number) => string): string =>
  each(rows, r => each(columns, c => text(r, c)));

/** Adds the product of K columns of A and K rows of B; `a` and `b` are the arguments of their loads. */
const multiply = (
  sums: Sums,
  a: (r: number) => string,
  b: (c: number) => string,
): string => `${each(sums.rows, r => `let a${r} = subgroupMatrixLoad<subgroup_matrix_left<f16, ${sums.K}, ${sums.M}>, row_major>(${a(r)});`)}
    ${each(sums.columns, c => `let b${c} = subgroupMatrixLoad<subgroup_matrix_right<f16, ${sums.N}, ${sums.K}>, row_major>(${b(c)});`)}
    ${cells(sums, (r, c) => `c${r}_${c} = subgroupMatrixMultiplyAccumulate(a${r}, b${c}, c${r}_${c});`)}`;

const directSteps = (size: number, sums: Sums, { depth }: MatrixTile): Steps => ({
  declarations: '',
  before: '',
  step: `for (var k = k0; k < k0 + ${depth}u; k += ${sums.K}u) {
      ${multiply(
        sums,
        r => `&A, (m0 + my_rows * 64u + ${r * sums.M}u) * ${size}u + k, ${size}u`,
        c => `&B, k * ${size}u + n0 + my_columns * 64u + ${c * sums.N}u, ${size}u`,
      )}
    }`,
});

/**
 * The rows of A are staged in an array for each row of subgroups, and the columns of B in one for each column
 * of subgroups, so that matrices have constant offsets: Dawn wraps all other loads in bounds checks. Rows are
 * padded by 16 bytes to avoid bank conflicts. Lanes fetch the operands of the next step while they multiply.
 */
function stagedSteps(size: number, sums: Sums, { across, depth }: MatrixTile, lanes: number): Steps {
  const [pitchA, pitchB] = [depth / 4 + 2, 64 / 4 + 2];
  const operands = [
    {
      ...{ name: 'A', vectors: (128 * depth) / 4, row: depth / 4 },
      from: (y: string, x: string) => `(m0 + ${y}) * ${size / 4}u + first / 4u + ${x}`,
      to: (y: string, x: string) => `a_tile[${y} / 64u][${y} % 64u * ${pitchA}u + ${x}]`,
    },
    {
      ...{ name: 'B', vectors: 16 * across * depth, row: 16 * across },
      from: (y: string, x: string) => `(first + ${y}) * ${size / 4}u + n0 / 4u + ${x}`,
      to: (y: string, x: string) => `b_tile[${x} / 16u][${y} * ${pitchB}u + ${x} % 16u]`,
    },
  ];
  type Place = { fetched: string; y: string; x: string };
  const turns = (text: (operand: (typeof operands)[number], place: Place) => string): string =>
    operands
      .map(operand =>
        each(Math.ceil(operand.vectors / lanes), turn => {
          const n = `(lane + ${turn * lanes}u)`;
          const place = {
            fetched: `${operand.name}${turn}`,
            y: `(${n} / ${operand.row}u)`,
            x: `(${n} % ${operand.row}u)`,
          };
          const statement = text(operand, place);
          return operand.vectors % lanes === 0
            ? statement
            : `if (${n} < ${operand.vectors}u) { ${statement} }`;
        }),
      )
      .join('\n    ');
  const fetch = (first: string): string => `{
      let first = ${first};
      ${turns(({ name, from: at }, { fetched, y, x }) => `${fetched} = ${name}[${at(y, x)}];`)}
    }`;
  return {
    declarations: `var<workgroup> a_tile: array<array<vec4<f16>, ${64 * pitchA}>, 2>;
var<workgroup> b_tile: array<array<vec4<f16>, ${depth * pitchB}>, ${across}>;`,
    before: `${operands.map(({ name, vectors }) => each(Math.ceil(vectors / lanes), turn => `var ${name}${turn} = vec4<f16>();`)).join('\n  ')}
  ${fetch('0u')}`,
    step: `workgroupBarrier();
    ${turns(({ to }, { fetched, y, x }) => `${to(y, x)} = ${fetched};`)}
    workgroupBarrier();
    ${fetch(`min(k0 + ${depth}u, ${size - depth}u)`)}
    ${each(
      depth / sums.K,
      k => `{
      ${multiply(
        sums,
        r => `&a_tile[my_rows], ${r * sums.M * pitchA + (k * sums.K) / 4}u, ${pitchA}u`,
        c => `&b_tile[my_columns], ${k * sums.K * pitchB + (c * sums.N) / 4}u, ${pitchB}u`,
      )}
    }`,
    )}`,
  };
}

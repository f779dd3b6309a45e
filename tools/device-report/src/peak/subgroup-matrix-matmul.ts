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
 * C = A·B on f16 subgroup matrices with f32 sums, in Dawn's dialect. The size is a multiple of 256. Rows in
 * workgroup memory are padded by 8 elements to avoid bank conflicts.
 */
export function subgroupMatrixMatmul(
  size: number,
  { M, N, K }: SubgroupMatrix,
  maxSubgroupSize: number,
  { across, depth, staged }: MatrixTile,
): MatmulCandidate {
  const lanes = 2 * across * maxSubgroupSize;
  const [height, width] = [128, 64 * across];
  const [strideA, strideB] = staged ? [depth + 8, width + 8] : [size, size];
  const [rows, columns] = [64 / M, 64 / N];
  const cells = (text: (r: number, c: number) => string): string =>
    each(rows, r => each(columns, c => text(r, c)));
  const left = `subgroup_matrix_left<f16, ${K}, ${M}>`;
  const right = `subgroup_matrix_right<f16, ${N}, ${K}>`;
  const result = `subgroup_matrix_result<f32, ${N}, ${M}>`;
  const stage = (from: 'A' | 'B', to: string, y: number, x: number, stride: number, at: string): string =>
    `for (var n = lane; n < ${(y * x) / 4}u; n += ${lanes}u) {
      let y = n / ${x / 4}u;
      let x = n % ${x / 4}u;
      let v = ${from}[${at}];
      ${each(4, e => `${to}[y * ${stride}u + 4u * x + ${e}u] = v[${e}];`)}
    }`;
  const row = size / 4;
  const [a, b] = staged ? ['a_tile', 'b_tile'] : ['A', 'B'];
  const atA = (r: number): string =>
    staged ? `(my_m + ${r * M}u) * ${strideA}u + k` : `(m0 + my_m + ${r * M}u) * ${strideA}u + k0 + k`;
  const atB = (c: number): string =>
    staged ? `k * ${strideB}u + my_n + ${c * N}u` : `(k0 + k) * ${strideB}u + n0 + my_n + ${c * N}u`;
  const element = staged ? 'vec4<f16>' : 'f16';
  const wgsl = `enable f16;
enable subgroups;
enable chromium_experimental_subgroup_matrix;
@group(0) @binding(0) var<storage, read> A: array<${element}>;
@group(0) @binding(1) var<storage, read> B: array<${element}>;
@group(0) @binding(2) var<storage, read_write> C: array<f32>;
${
  staged
    ? `var<workgroup> a_tile: array<f16, ${height * strideA}>;
var<workgroup> b_tile: array<f16, ${depth * strideB}>;`
    : ''
}
@compute @workgroup_size(${lanes})
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(local_invocation_index) lane: u32,
  @builtin(subgroup_id) subgroup: u32,
) {
  let m0 = group.y * ${height}u;
  let n0 = group.x * ${width}u;
  // If subgroups are smaller than the largest, several compute the same part of C.
  let my_m = subgroup / ${across}u % 2u * 64u;
  let my_n = subgroup % ${across}u * 64u;
  ${cells((r, c) => `var c${r}_${c} = ${result}();`)}
  for (var k0 = 0u; k0 < ${size}u; k0 += ${depth}u) {
    ${
      staged
        ? `${stage('A', 'a_tile', height, depth, strideA, `(m0 + y) * ${row}u + k0 / 4u + x`)}
    ${stage('B', 'b_tile', depth, width, strideB, `(k0 + y) * ${row}u + n0 / 4u + x`)}
    workgroupBarrier();`
        : ''
    }
    for (var k = 0u; k < ${depth}u; k += ${K}u) {
      ${each(rows, r => `let a${r} = subgroupMatrixLoad<${left}, row_major>(&${a}, ${atA(r)}, ${strideA}u);`)}
      ${each(columns, c => `let b${c} = subgroupMatrixLoad<${right}, row_major>(&${b}, ${atB(c)}, ${strideB}u);`)}
      ${cells((r, c) => `c${r}_${c} = subgroupMatrixMultiplyAccumulate(a${r}, b${c}, c${r}_${c});`)}
    }
    ${staged ? 'workgroupBarrier();' : ''}
  }
  ${cells((r, c) => `subgroupMatrixStore<row_major>(&C, (m0 + my_m + ${r * M}u) * ${size}u + n0 + my_n + ${c * N}u, c${r}_${c}, ${size}u);`)}
}
`;
  return {
    name: `${M}×${N}×${K}, ${staged ? 'staged' : 'direct'} ${height}×${width}×${depth}, ${lanes} lanes`,
    ...{ precision: 'subgroup matrix', storage: 'f16', wgsl, groups: [size / width, size / height] },
  };
}

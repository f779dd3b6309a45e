import type { MatmulCandidate } from './candidate.ts';

/** One of an adapter's `subgroupMatrixConfigs`. */
export interface SubgroupMatrixConfig {
  readonly componentType: string;
  readonly resultComponentType: string;
  readonly M: number;
  readonly N: number;
  readonly K: number;
}

const each = (n: number, text: (k: number) => string): string =>
  Array.from({ length: n }, (_, k) => text(k)).join('\n    ');

/**
 * C = A·B on subgroup matrices of f16 with sums in f32, in Dawn's dialect: a workgroup of four subgroups has 128 × 128 of C, each
 * subgroup 64 × 64; 32 steps of the sum pass through workgroup memory, whose rows are padded by 8 against bank conflicts.
 * @param lanes of a workgroup: four times the largest subgroup of the adapter.
 */
export function subgroupMatrixMatmul(
  size: number,
  { M, N, K }: SubgroupMatrixConfig,
  lanes: number,
): MatmulCandidate {
  const depth = 32;
  const [strideA, strideB] = [depth + 8, 128 + 8];
  const row = size / 4;
  const [rows, columns] = [64 / M, 64 / N];
  const cells = (text: (r: number, c: number) => string): string =>
    each(rows, r => each(columns, c => text(r, c)));
  const left = `subgroup_matrix_left<f16, ${K}, ${M}>`;
  const right = `subgroup_matrix_right<f16, ${N}, ${K}>`;
  const result = `subgroup_matrix_result<f32, ${N}, ${M}>`;
  const stage = (from: string, to: string, width: number, stride: number, at: string): string =>
    `for (var n = lane; n < ${from === 'A' ? (128 * depth) / 4 : (depth * 128) / 4}u; n += ${lanes}u) {
      let y = n / ${width / 4}u;
      let x = n % ${width / 4}u;
      let v = ${from}[${at}];
      ${each(4, e => `${to}[y * ${stride}u + 4u * x + ${e}u] = v[${e}];`)}
    }`;
  const wgsl = `enable f16;
enable subgroups;
enable chromium_experimental_subgroup_matrix;
@group(0) @binding(0) var<storage, read> A: array<vec4<f16>>;
@group(0) @binding(1) var<storage, read> B: array<vec4<f16>>;
@group(0) @binding(2) var<storage, read_write> C: array<f32>;
var<workgroup> a_tile: array<f16, ${128 * strideA}>;
var<workgroup> b_tile: array<f16, ${depth * strideB}>;
@compute @workgroup_size(${lanes})
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(local_invocation_index) lane: u32,
  @builtin(subgroup_id) subgroup: u32,
) {
  let m0 = group.y * 128u;
  let n0 = group.x * 128u;
  // Where subgroups are smaller than the largest, several do the same part of C.
  let my_m = (subgroup % 4u) / 2u * 64u;
  let my_n = (subgroup % 2u) * 64u;
  ${cells((r, c) => `var c${r}_${c} = ${result}();`)}
  for (var k0 = 0u; k0 < ${size}u; k0 += ${depth}u) {
    ${stage('A', 'a_tile', depth, strideA, `(m0 + y) * ${row}u + k0 / 4u + x`)}
    ${stage('B', 'b_tile', 128, strideB, `(k0 + y) * ${row}u + n0 / 4u + x`)}
    workgroupBarrier();
    for (var k = 0u; k < ${depth}u; k += ${K}u) {
      ${each(rows, r => `let a${r} = subgroupMatrixLoad<${left}, row_major>(&a_tile, (my_m + ${r * M}u) * ${strideA}u + k, ${strideA}u);`)}
      ${each(columns, c => `let b${c} = subgroupMatrixLoad<${right}, row_major>(&b_tile, k * ${strideB}u + my_n + ${c * N}u, ${strideB}u);`)}
      ${cells((r, c) => `c${r}_${c} = subgroupMatrixMultiplyAccumulate(a${r}, b${c}, c${r}_${c});`)}
    }
    workgroupBarrier();
  }
  ${cells((r, c) => `subgroupMatrixStore<row_major>(&C, (m0 + my_m + ${r * M}u) * ${size}u + n0 + my_n + ${c * N}u, c${r}_${c}, ${size}u);`)}
}
`;
  return {
    ...{
      name: `${M}×${N}×${K}, 128×128×${depth}, ${lanes} lanes`,
      precision: 'subgroup matrix',
      storage: 'f16',
    },
    ...{ wgsl, groups: [size / 128, size / 128] },
  };
}

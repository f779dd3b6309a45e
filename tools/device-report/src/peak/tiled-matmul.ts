import type { MatmulCandidate } from './candidate.ts';

/** A tiling of a product: tx × ty lanes with `rows` × `columns` blocks of 4 × 4 each. */
export interface FixedTile {
  readonly tx: number;
  readonly ty: number;
  readonly rows: number;
  readonly columns: number;
  readonly depth: number;
}

const each = (n: number, text: (k: number) => string): string =>
  Array.from({ length: n }, (_, k) => text(k)).join('\n    ');

/**
 * C = A·B for square row-major matrices whose size is a multiple of the tiles, with a constant for everything
 * that can be one. Operands are staged in workgroup memory or read from storage directly. In f16, products
 * are summed in f16 over one step and in f32 over all steps.
 */
export function tiledMatmul(
  size: number,
  precision: 'f32' | 'f16',
  { tx, ty, rows, columns, depth }: FixedTile,
  staged: boolean,
): MatmulCandidate {
  const [M, N] = [4 * ty * rows, 4 * tx * columns];
  const [height, width] = [ty * rows, tx * columns];
  const row = size / 4;
  const lanes = tx * ty;
  const isHalf = precision === 'f16';
  const vec4 = isHalf ? 'vec4<f16>' : 'vec4f';
  const cells = (text: (r: number, c: number) => string): string =>
    each(4 * rows, r => each(columns, c => text(r, c)));
  const sum = isHalf ? 's' : 'c';
  const stage = `for (var n = lane; n < ${(height * depth) / 4}u; n += ${lanes}u) {
      let x = n / ${depth / 4}u;
      let k = n % ${depth / 4}u;
      let at = (m0 + 4u * x) * ${row}u + k0 / 4u + k;
      let t = transpose(mat4x4<${precision}>(A[at], A[at + ${row}u], A[at + ${2 * row}u], A[at + ${3 * row}u]));
      ${each(4, e => `a_tile[(4u * k + ${e}u) * ${height}u + x] = t[${e}];`)}
    }
    for (var n = lane; n < ${width * depth}u; n += ${lanes}u) {
      b_tile[n] = B[(k0 + n / ${width}u) * ${row}u + n0 / 4u + n % ${width}u];
    }
    workgroupBarrier();`;
  const stagedSteps = `for (var k = 0u; k < ${depth}u; k++) {
      ${each(rows, r => `let a${r} = a_tile[k * ${height}u + ${r * ty}u + ty];`)}
      ${each(columns, c => `let b${c} = b_tile[k * ${width}u + ${c * tx}u + tx];`)}
      ${cells((r, c) => `${sum}${r}_${c} += a${r >> 2}[${r & 3}] * b${c};`)}
    }
    workgroupBarrier();`;
  const directSteps = `for (var k = k0; k < k0 + ${depth}u; k += 4u) {
      ${each(4 * rows, r => `let a${r} = A[(m0 + 4u * (${(r >> 2) * ty}u + ty) + ${r & 3}u) * ${row}u + k / 4u];`)}
      ${each(4, e =>
        each(columns, c => `let b${e}_${c} = B[(k + ${e}u) * ${row}u + n0 / 4u + ${c * tx}u + tx];`),
      )}
      ${each(4, e => cells((r, c) => `${sum}${r}_${c} += a${r}[${e}] * b${e}_${c};`))}
    }`;
  const wgsl = `${isHalf ? 'enable f16;\n' : ''}@group(0) @binding(0) var<storage, read> A: array<${vec4}>;
@group(0) @binding(1) var<storage, read> B: array<${vec4}>;
@group(0) @binding(2) var<storage, read_write> C: array<vec4f>;
${
  staged
    ? `var<workgroup> a_tile: array<${vec4}, ${height * depth}>;
var<workgroup> b_tile: array<${vec4}, ${width * depth}>;`
    : ''
}
@compute @workgroup_size(${lanes})
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) lane: u32) {
  let m0 = group.y * ${M}u;
  let n0 = group.x * ${N}u;
  let tx = lane % ${tx}u;
  let ty = lane / ${tx}u;
  ${cells((r, c) => `var c${r}_${c} = vec4f();`)}
  for (var k0 = 0u; k0 < ${size}u; k0 += ${depth}u) {
    ${isHalf ? cells((r, c) => `var s${r}_${c} = vec4<f16>();`) : ''}
    ${staged ? `${stage}\n    ${stagedSteps}` : directSteps}
    ${isHalf ? cells((r, c) => `c${r}_${c} += vec4f(s${r}_${c});`) : ''}
  }
  ${cells((r, c) => `C[(m0 + 4u * (${(r >> 2) * ty}u + ty) + ${r & 3}u) * ${row}u + n0 / 4u + ${c * tx}u + tx] = c${r}_${c};`)}
}
`;
  const name = `${staged ? 'staged' : 'direct'} ${M}×${N}×${depth}, ${lanes} lanes`;
  return { name, precision, wgsl, groups: [size / N, size / M], storage: precision };
}

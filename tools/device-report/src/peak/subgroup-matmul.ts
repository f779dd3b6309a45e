import type { MatmulCandidate } from './candidate.ts';

const each = (n: number, text: (k: number) => string): string =>
  Array.from({ length: n }, (_, k) => text(k)).join('\n    ');

/** The number of lanes; each computes 4 rows of C, and all of them the same 8 columns. */
const [lanes, rows, columns] = [32, 4, 2];

/**
 * C = A·B in f32 without workgroup memory and barriers, which are expensive on a CPU: eight lanes of a
 * subgroup read a vec4 of B each and broadcast it. The result is wrong on smaller subgroups, so callers must
 * check it.
 */
export function subgroupMatmul(size: number): MatmulCandidate {
  const row = size / 4;
  const cells = (text: (r: number, c: number) => string): string =>
    each(rows, r => each(columns, c => text(r, c)));
  const wgsl = `enable subgroups;
@group(0) @binding(0) var<storage, read> A: array<vec4f>;
@group(0) @binding(1) var<storage, read> B: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> C: array<vec4f>;
@compute @workgroup_size(${lanes})
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(local_invocation_index) lane: u32,
  @builtin(subgroup_invocation_id) neighbour: u32,
) {
  let m = ${rows}u * (${lanes}u * group.y + lane);
  let n = ${columns}u * group.x;
  let mine = neighbour % ${4 * columns}u;
  ${cells((r, c) => `var c${r}_${c} = vec4f();`)}
  for (var k = 0u; k < ${size}u; k += 4u) {
    let b = B[(k + mine / ${columns}u) * ${row}u + n + mine % ${columns}u];
    ${each(rows, r => `let a${r} = A[(m + ${r}u) * ${row}u + k / 4u];`)}
    ${each(4, e => each(columns, c => `let b${e}_${c} = subgroupBroadcast(b, ${e * columns + c}u);`))}
    ${each(4, e => cells((r, c) => `c${r}_${c} += a${r}[${e}] * b${e}_${c};`))}
  }
  ${cells((r, c) => `C[(m + ${r}u) * ${row}u + n + ${c}u] = c${r}_${c};`)}
}
`;
  return {
    name: `subgroups ${lanes * rows}×${4 * columns}, ${lanes} lanes`,
    ...{ precision: 'f32', storage: 'f32', wgsl, groups: [row / columns, size / (lanes * rows)] },
  };
}

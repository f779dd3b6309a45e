/**
 * C = factor · A·B per head: A is (m, k), B is (k, n), C is (m, n), each row-major, A and B possibly stored
 * transposed.
 */
export interface Product {
  readonly m: number;
  readonly n: number;
  readonly k: number;
  readonly factor: number;
  readonly transposeA: boolean;
  readonly transposeB: boolean;
}

const tile = 16;

/** The number of workgroups in x, y and z. */
export function productGroups({ m, n }: Product, heads: number): [number, number, number] {
  return [Math.ceil(n / tile), Math.ceil(m / tile), heads];
}

/**
 * The product with tiles of both operands in workgroup memory, one element of C per lane. Bindings: A, B, C.
 */
export function productShader({ m, n, k, factor, transposeA, transposeB }: Product): string {
  return `
@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read> b: array<f32>;
@group(0) @binding(2) var<storage, read_write> c: array<f32>;

const m = ${m}u;
const n = ${n}u;
const k = ${k}u;

var<workgroup> tile_a: array<array<f32, ${tile}>, ${tile}>;
var<workgroup> tile_b: array<array<f32, ${tile}>, ${tile}>;

@compute @workgroup_size(${tile}, ${tile})
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(local_invocation_id) lane: vec3u,
) {
  let row = group.y * ${tile}u + lane.y;
  let column = group.x * ${tile}u + lane.x;
  var sum = 0.0;
  for (var first = 0u; first < k; first += ${tile}u) {
    let ka = first + lane.x;
    let kb = first + lane.y;
    var x = 0.0;
    var y = 0.0;
    if (row < m && ka < k) {
      x = a[group.z * m * k + ${transposeA ? 'ka * m + row' : 'row * k + ka'}];
    }
    if (kb < k && column < n) {
      y = b[group.z * k * n + ${transposeB ? 'column * k + kb' : 'kb * n + column'}];
    }
    tile_a[lane.y][lane.x] = x;
    tile_b[lane.y][lane.x] = y;
    workgroupBarrier();
    for (var t = 0u; t < ${tile}u; t++) {
      sum += tile_a[lane.y][t] * tile_b[t][lane.x];
    }
    workgroupBarrier();
  }
  if (row < m && column < n) {
    c[group.z * m * n + row * n + column] = ${factor} * sum;
  }
}
`;
}

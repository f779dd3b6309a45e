struct Params {
  first_group: u32,
  end_group: u32,
  M: u32,
  N: u32,
  tiles_m: u32,
  tiles_n: u32,
  parts: u32,
  part_depth: u32,
  x0_base: u32,
  x1_base: u32,
  y0_base: u32,
  x0_side: u32,
  x0_sum: u32,
  x0_K: u32,
  x1_side: u32,
  x1_sum: u32,
  x1_K: u32,
  y0_row: u32,
  y0_column: u32,
}

@group(0) @binding(0) var<uniform> P: Params;

@group(0) @binding(1) var<storage, read> x0: array<vec4f>;

@group(0) @binding(2) var<storage, read> x1: array<vec4f>;

@group(0) @binding(3) var<storage, read_write> y0: array<vec4f>;

fn x0_start(index: u32) -> u32 {
  var at = P.x0_base;
  return at;
}

fn x1_start(index: u32) -> u32 {
  var at = P.x1_base;
  return at;
}

fn y0_start(index: u32) -> u32 {
  var at = P.y0_base;
  return at;
}

var<workgroup> partials: array<vec4f, 256>;

fn x1_block(start: u32, x: u32, k: u32) -> mat4x4f {
  let first = start + x * P.x1_side + k * P.x1_sum;
  return (mat4x4f(x1[(first) >> 2u], x1[(first + P.x1_sum) >> 2u], x1[(first + 2u * P.x1_sum) >> 2u], x1[(first + 3u * P.x1_sum) >> 2u]));
}

fn x1_block_at_edge(start: u32, x: u32, k: u32) -> mat4x4f {
  var block = mat4x4f();
  if (x >= P.N || k >= P.x1_K) {
    return block;
  }
  let first = start + x * P.x1_side + k * P.x1_sum;
  for (var n = 0u; n < 4u; n++) {
    if (k + n < P.x1_K) {
      block[n] = x1[(first + n * P.x1_sum) >> 2u];
    }
  }
  return (block);
}

fn y0_store4(start: u32, row: u32, n: u32, x: vec4f) {
  let first = start + row * P.y0_row;
  if (n < P.N) {
    y0[(first + n) >> 2u] = x;
  }
}

@compute @workgroup_size(256)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) workgroups: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
  let group = P.first_group + workgroup.x + workgroup.y * workgroups.x;
  if (group >= P.end_group) {
    return;
  }

  let part = group % P.parts;
  let n0 = group / P.parts % P.tiles_n * 32u;
  let tile_m = group / P.parts / P.tiles_n;
  let m0 = tile_m % P.tiles_m * 1u;
  let index = tile_m / P.tiles_m;
  let k_begin = part * P.part_depth;
  let x = n0 + 4u * (lane % 8u);
  let slice = lane / 8u;
  var c0 = vec4f();
  {
    let a_at = x0_start(index);
    let b_at = x1_start(index);
    let k_end = min(P.x0_K, k_begin + P.part_depth);
    for (var k = k_begin + 4u * slice; k < k_end; k += 128u) {
      var block = mat4x4f();
      if (x + 4u <= P.N && k + 4u <= P.x1_K) {
        block = x1_block(b_at, x, k);
      } else {
        block = x1_block_at_edge(b_at, x, k);
      }
      let a0 = x0[(a_at + min(m0 + 0u, P.M - 1u) * P.x0_side + k) >> 2u];
      c0 += block * a0;
    }
  }
  let c_at = y0_start(index);
  partials[lane] = c0;
  workgroupBarrier();
  for (var half = 16u; half > 0u; half /= 2u) {
    if (slice < half) {
      partials[lane] += partials[lane + half * 8u];
    }
    workgroupBarrier();
  }
  c0 = partials[lane];
  if (slice == 0u && m0 + 0u < P.M) {
    y0_store4(c_at, m0 + 0u, x, c0);
  }
}

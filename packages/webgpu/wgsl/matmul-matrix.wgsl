enable f16;
enable subgroups;
enable chromium_experimental_subgroup_matrix;
diagnostic(off, chromium.subgroup_matrix_uniformity);

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

@group(0) @binding(1) var<storage, read> x0: array<vec2u>;

@group(0) @binding(2) var<storage, read> x1: array<vec2u>;

@group(0) @binding(3) var<storage, read_write> y0: array<vec2u>;

fn f16_bits(x: vec4f) -> vec4u {
  let bits = bitcast<vec4u>(x);
  let a = bits & vec4u(0x7fffffffu);
  let normal = (a + ((a >> vec4u(13u)) & vec4u(1u)) - vec4u(939520001u)) >> vec4u(13u);
  let drop = min(vec4u(126u) - min(a >> vec4u(23u), vec4u(112u)), vec4u(31u));
  let mantissa = (a & vec4u(0x7fffffu)) | vec4u(0x800000u);
  let kept = mantissa >> drop;
  let rest = mantissa & ((vec4u(1u) << drop) - vec4u(1u));
  let half = vec4u(1u) << (drop - vec4u(1u));
  let up = (rest > half) | ((rest == half) & ((kept & vec4u(1u)) == vec4u(1u)));
  var code = select(normal, vec4u(31744u), normal > vec4u(31743u));
  code = select(code, kept + select(vec4u(), vec4u(1u), up), a < vec4u(947912704u));
  code = select(code, vec4u(32256u), a > vec4u(0x7f800000u));
  return code | ((bits >> vec4u(16u)) & vec4u(32768u));
}

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

var<workgroup> staged: array<array<vec4<f16>, 640>, 4>;

fn x0_fetch(start: u32, x: u32, k: u32, is_whole: bool) -> vec4<f16> {
  let k_in = select(min(k, P.x0_K - 4u), k, is_whole);
  let at = start + min(x, P.M - 1u) * P.x0_side + k_in * P.x0_sum;
  return select(vec4<f16>(), bitcast<vec4<f16>>(x0[at >> 2u]), is_whole || (x < P.M && k < P.x0_K));
}

fn x1_fetch(start: u32, x: u32, k: u32, is_whole: bool) -> vec4<f16> {
  let k_in = select(min(k, P.x1_K - 1u), k, is_whole);
  let at = start + min(x, P.N - 4u) * P.x1_side + k_in * P.x1_sum;
  return select(vec4<f16>(), bitcast<vec4<f16>>(x1[at >> 2u]), is_whole || (x < P.N && k < P.x1_K));
}

fn y0_store4(start: u32, row: u32, n: u32, x: vec4f) {
  let first = start + row * P.y0_row;
  let bits = f16_bits(x);
  if (n < P.N) {
    y0[(first + n) >> 2u] = bits.xz | (bits.yw << vec2u(16u));
  }
}

@compute @workgroup_size(128)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) workgroups: vec3u,
  @builtin(local_invocation_index) lane: u32,
  @builtin(subgroup_id) subgroup: u32,
  @builtin(subgroup_invocation_id) subgroup_lane: u32,
) {
  let group = P.first_group + workgroup.x + workgroup.y * workgroups.x;
  if (group >= P.end_group) {
    return;
  }

  let part = group % P.parts;
  let n0 = group / P.parts % P.tiles_n * 128u;
  let tile_m = group / P.parts / P.tiles_n;
  let m0 = tile_m % P.tiles_m * 128u;
  let index = tile_m / P.tiles_m;
  let k_begin = part * P.part_depth;

  let own_rows = subgroup / 2u;
  let own_columns = subgroup % 2u;
  var c0_0 = subgroup_matrix_result<f32, 16, 16>();
  var c0_1 = subgroup_matrix_result<f32, 16, 16>();
  var c0_2 = subgroup_matrix_result<f32, 16, 16>();
  var c0_3 = subgroup_matrix_result<f32, 16, 16>();
  var c1_0 = subgroup_matrix_result<f32, 16, 16>();
  var c1_1 = subgroup_matrix_result<f32, 16, 16>();
  var c1_2 = subgroup_matrix_result<f32, 16, 16>();
  var c1_3 = subgroup_matrix_result<f32, 16, 16>();
  var c2_0 = subgroup_matrix_result<f32, 16, 16>();
  var c2_1 = subgroup_matrix_result<f32, 16, 16>();
  var c2_2 = subgroup_matrix_result<f32, 16, 16>();
  var c2_3 = subgroup_matrix_result<f32, 16, 16>();
  var c3_0 = subgroup_matrix_result<f32, 16, 16>();
  var c3_1 = subgroup_matrix_result<f32, 16, 16>();
  var c3_2 = subgroup_matrix_result<f32, 16, 16>();
  var c3_3 = subgroup_matrix_result<f32, 16, 16>();
  {
    let a_at = x0_start(index);
    let b_at = x1_start(index);
    let k_end = min(P.x0_K, k_begin + P.part_depth);
    var x0_fetched0 = vec4<f16>();
    var x0_fetched1 = vec4<f16>();
    var x0_fetched2 = vec4<f16>();
    var x0_fetched3 = vec4<f16>();
    var x0_fetched4 = vec4<f16>();
    var x0_fetched5 = vec4<f16>();
    var x0_fetched6 = vec4<f16>();
    var x0_fetched7 = vec4<f16>();
    var x1_fetched0 = vec4<f16>();
    var x1_fetched1 = vec4<f16>();
    var x1_fetched2 = vec4<f16>();
    var x1_fetched3 = vec4<f16>();
    var x1_fetched4 = vec4<f16>();
    var x1_fetched5 = vec4<f16>();
    var x1_fetched6 = vec4<f16>();
    var x1_fetched7 = vec4<f16>();
    if (k_begin < k_end) {
      x0_fetched0 = x0_fetch(a_at, m0 + (lane / 8u + 0u), k_begin + 4u * (lane % 8u), false);
      x0_fetched1 = x0_fetch(a_at, m0 + (lane / 8u + 16u), k_begin + 4u * (lane % 8u), false);
      x0_fetched2 = x0_fetch(a_at, m0 + (lane / 8u + 32u), k_begin + 4u * (lane % 8u), false);
      x0_fetched3 = x0_fetch(a_at, m0 + (lane / 8u + 48u), k_begin + 4u * (lane % 8u), false);
      x0_fetched4 = x0_fetch(a_at, m0 + (lane / 8u + 64u), k_begin + 4u * (lane % 8u), false);
      x0_fetched5 = x0_fetch(a_at, m0 + (lane / 8u + 80u), k_begin + 4u * (lane % 8u), false);
      x0_fetched6 = x0_fetch(a_at, m0 + (lane / 8u + 96u), k_begin + 4u * (lane % 8u), false);
      x0_fetched7 = x0_fetch(a_at, m0 + (lane / 8u + 112u), k_begin + 4u * (lane % 8u), false);
      x1_fetched0 = x1_fetch(b_at, n0 + 4u * (lane % 32u), k_begin + (lane / 32u + 0u), false);
      x1_fetched1 = x1_fetch(b_at, n0 + 4u * (lane % 32u), k_begin + (lane / 32u + 4u), false);
      x1_fetched2 = x1_fetch(b_at, n0 + 4u * (lane % 32u), k_begin + (lane / 32u + 8u), false);
      x1_fetched3 = x1_fetch(b_at, n0 + 4u * (lane % 32u), k_begin + (lane / 32u + 12u), false);
      x1_fetched4 = x1_fetch(b_at, n0 + 4u * (lane % 32u), k_begin + (lane / 32u + 16u), false);
      x1_fetched5 = x1_fetch(b_at, n0 + 4u * (lane % 32u), k_begin + (lane / 32u + 20u), false);
      x1_fetched6 = x1_fetch(b_at, n0 + 4u * (lane % 32u), k_begin + (lane / 32u + 24u), false);
      x1_fetched7 = x1_fetch(b_at, n0 + 4u * (lane % 32u), k_begin + (lane / 32u + 28u), false);
    }
    for (var k0 = k_begin; k0 < k_end; k0 += 32u) {
      workgroupBarrier();
      staged[0u + (lane / 8u + 0u) / 64u][((lane / 8u + 0u) % 64u) * 10u + lane % 8u] = x0_fetched0;
      staged[0u + (lane / 8u + 16u) / 64u][((lane / 8u + 16u) % 64u) * 10u + lane % 8u] = x0_fetched1;
      staged[0u + (lane / 8u + 32u) / 64u][((lane / 8u + 32u) % 64u) * 10u + lane % 8u] = x0_fetched2;
      staged[0u + (lane / 8u + 48u) / 64u][((lane / 8u + 48u) % 64u) * 10u + lane % 8u] = x0_fetched3;
      staged[0u + (lane / 8u + 64u) / 64u][((lane / 8u + 64u) % 64u) * 10u + lane % 8u] = x0_fetched4;
      staged[0u + (lane / 8u + 80u) / 64u][((lane / 8u + 80u) % 64u) * 10u + lane % 8u] = x0_fetched5;
      staged[0u + (lane / 8u + 96u) / 64u][((lane / 8u + 96u) % 64u) * 10u + lane % 8u] = x0_fetched6;
      staged[0u + (lane / 8u + 112u) / 64u][((lane / 8u + 112u) % 64u) * 10u + lane % 8u] = x0_fetched7;
      staged[2u + lane % 32u / 16u][((lane / 32u + 0u)) * 18u + lane % 32u % 16u] = x1_fetched0;
      staged[2u + lane % 32u / 16u][((lane / 32u + 4u)) * 18u + lane % 32u % 16u] = x1_fetched1;
      staged[2u + lane % 32u / 16u][((lane / 32u + 8u)) * 18u + lane % 32u % 16u] = x1_fetched2;
      staged[2u + lane % 32u / 16u][((lane / 32u + 12u)) * 18u + lane % 32u % 16u] = x1_fetched3;
      staged[2u + lane % 32u / 16u][((lane / 32u + 16u)) * 18u + lane % 32u % 16u] = x1_fetched4;
      staged[2u + lane % 32u / 16u][((lane / 32u + 20u)) * 18u + lane % 32u % 16u] = x1_fetched5;
      staged[2u + lane % 32u / 16u][((lane / 32u + 24u)) * 18u + lane % 32u % 16u] = x1_fetched6;
      staged[2u + lane % 32u / 16u][((lane / 32u + 28u)) * 18u + lane % 32u % 16u] = x1_fetched7;
      workgroupBarrier();
      // With two branches, the loop took a fifth less time on an H200 than with one for both.
      let next = k0 + 32u;
      if (next + 32u <= k_end) {
        x0_fetched0 = x0_fetch(a_at, m0 + (lane / 8u + 0u), next + 4u * (lane % 8u), true);
        x0_fetched1 = x0_fetch(a_at, m0 + (lane / 8u + 16u), next + 4u * (lane % 8u), true);
        x0_fetched2 = x0_fetch(a_at, m0 + (lane / 8u + 32u), next + 4u * (lane % 8u), true);
        x0_fetched3 = x0_fetch(a_at, m0 + (lane / 8u + 48u), next + 4u * (lane % 8u), true);
        x0_fetched4 = x0_fetch(a_at, m0 + (lane / 8u + 64u), next + 4u * (lane % 8u), true);
        x0_fetched5 = x0_fetch(a_at, m0 + (lane / 8u + 80u), next + 4u * (lane % 8u), true);
        x0_fetched6 = x0_fetch(a_at, m0 + (lane / 8u + 96u), next + 4u * (lane % 8u), true);
        x0_fetched7 = x0_fetch(a_at, m0 + (lane / 8u + 112u), next + 4u * (lane % 8u), true);
        x1_fetched0 = x1_fetch(b_at, n0 + 4u * (lane % 32u), next + (lane / 32u + 0u), true);
        x1_fetched1 = x1_fetch(b_at, n0 + 4u * (lane % 32u), next + (lane / 32u + 4u), true);
        x1_fetched2 = x1_fetch(b_at, n0 + 4u * (lane % 32u), next + (lane / 32u + 8u), true);
        x1_fetched3 = x1_fetch(b_at, n0 + 4u * (lane % 32u), next + (lane / 32u + 12u), true);
        x1_fetched4 = x1_fetch(b_at, n0 + 4u * (lane % 32u), next + (lane / 32u + 16u), true);
        x1_fetched5 = x1_fetch(b_at, n0 + 4u * (lane % 32u), next + (lane / 32u + 20u), true);
        x1_fetched6 = x1_fetch(b_at, n0 + 4u * (lane % 32u), next + (lane / 32u + 24u), true);
        x1_fetched7 = x1_fetch(b_at, n0 + 4u * (lane % 32u), next + (lane / 32u + 28u), true);
      } else if (next < k_end) {
        x0_fetched0 = x0_fetch(a_at, m0 + (lane / 8u + 0u), next + 4u * (lane % 8u), false);
        x0_fetched1 = x0_fetch(a_at, m0 + (lane / 8u + 16u), next + 4u * (lane % 8u), false);
        x0_fetched2 = x0_fetch(a_at, m0 + (lane / 8u + 32u), next + 4u * (lane % 8u), false);
        x0_fetched3 = x0_fetch(a_at, m0 + (lane / 8u + 48u), next + 4u * (lane % 8u), false);
        x0_fetched4 = x0_fetch(a_at, m0 + (lane / 8u + 64u), next + 4u * (lane % 8u), false);
        x0_fetched5 = x0_fetch(a_at, m0 + (lane / 8u + 80u), next + 4u * (lane % 8u), false);
        x0_fetched6 = x0_fetch(a_at, m0 + (lane / 8u + 96u), next + 4u * (lane % 8u), false);
        x0_fetched7 = x0_fetch(a_at, m0 + (lane / 8u + 112u), next + 4u * (lane % 8u), false);
        x1_fetched0 = x1_fetch(b_at, n0 + 4u * (lane % 32u), next + (lane / 32u + 0u), false);
        x1_fetched1 = x1_fetch(b_at, n0 + 4u * (lane % 32u), next + (lane / 32u + 4u), false);
        x1_fetched2 = x1_fetch(b_at, n0 + 4u * (lane % 32u), next + (lane / 32u + 8u), false);
        x1_fetched3 = x1_fetch(b_at, n0 + 4u * (lane % 32u), next + (lane / 32u + 12u), false);
        x1_fetched4 = x1_fetch(b_at, n0 + 4u * (lane % 32u), next + (lane / 32u + 16u), false);
        x1_fetched5 = x1_fetch(b_at, n0 + 4u * (lane % 32u), next + (lane / 32u + 20u), false);
        x1_fetched6 = x1_fetch(b_at, n0 + 4u * (lane % 32u), next + (lane / 32u + 24u), false);
        x1_fetched7 = x1_fetch(b_at, n0 + 4u * (lane % 32u), next + (lane / 32u + 28u), false);
      }
      {
        let a0 = subgroupMatrixLoad<subgroup_matrix_left<f16, 16, 16>, row_major>(&staged[0u + own_rows], 0u, 10u);
        let a1 = subgroupMatrixLoad<subgroup_matrix_left<f16, 16, 16>, row_major>(&staged[0u + own_rows], 160u, 10u);
        let a2 = subgroupMatrixLoad<subgroup_matrix_left<f16, 16, 16>, row_major>(&staged[0u + own_rows], 320u, 10u);
        let a3 = subgroupMatrixLoad<subgroup_matrix_left<f16, 16, 16>, row_major>(&staged[0u + own_rows], 480u, 10u);
        let b0 = subgroupMatrixLoad<subgroup_matrix_right<f16, 16, 16>, row_major>(&staged[2u + own_columns], 0u, 18u);
        let b1 = subgroupMatrixLoad<subgroup_matrix_right<f16, 16, 16>, row_major>(&staged[2u + own_columns], 4u, 18u);
        let b2 = subgroupMatrixLoad<subgroup_matrix_right<f16, 16, 16>, row_major>(&staged[2u + own_columns], 8u, 18u);
        let b3 = subgroupMatrixLoad<subgroup_matrix_right<f16, 16, 16>, row_major>(&staged[2u + own_columns], 12u, 18u);
        c0_0 = subgroupMatrixMultiplyAccumulate(a0, b0, c0_0);
        c0_1 = subgroupMatrixMultiplyAccumulate(a0, b1, c0_1);
        c0_2 = subgroupMatrixMultiplyAccumulate(a0, b2, c0_2);
        c0_3 = subgroupMatrixMultiplyAccumulate(a0, b3, c0_3);
        c1_0 = subgroupMatrixMultiplyAccumulate(a1, b0, c1_0);
        c1_1 = subgroupMatrixMultiplyAccumulate(a1, b1, c1_1);
        c1_2 = subgroupMatrixMultiplyAccumulate(a1, b2, c1_2);
        c1_3 = subgroupMatrixMultiplyAccumulate(a1, b3, c1_3);
        c2_0 = subgroupMatrixMultiplyAccumulate(a2, b0, c2_0);
        c2_1 = subgroupMatrixMultiplyAccumulate(a2, b1, c2_1);
        c2_2 = subgroupMatrixMultiplyAccumulate(a2, b2, c2_2);
        c2_3 = subgroupMatrixMultiplyAccumulate(a2, b3, c2_3);
        c3_0 = subgroupMatrixMultiplyAccumulate(a3, b0, c3_0);
        c3_1 = subgroupMatrixMultiplyAccumulate(a3, b1, c3_1);
        c3_2 = subgroupMatrixMultiplyAccumulate(a3, b2, c3_2);
        c3_3 = subgroupMatrixMultiplyAccumulate(a3, b3, c3_3);
      }
      {
        let a0 = subgroupMatrixLoad<subgroup_matrix_left<f16, 16, 16>, row_major>(&staged[0u + own_rows], 4u, 10u);
        let a1 = subgroupMatrixLoad<subgroup_matrix_left<f16, 16, 16>, row_major>(&staged[0u + own_rows], 164u, 10u);
        let a2 = subgroupMatrixLoad<subgroup_matrix_left<f16, 16, 16>, row_major>(&staged[0u + own_rows], 324u, 10u);
        let a3 = subgroupMatrixLoad<subgroup_matrix_left<f16, 16, 16>, row_major>(&staged[0u + own_rows], 484u, 10u);
        let b0 = subgroupMatrixLoad<subgroup_matrix_right<f16, 16, 16>, row_major>(&staged[2u + own_columns], 288u, 18u);
        let b1 = subgroupMatrixLoad<subgroup_matrix_right<f16, 16, 16>, row_major>(&staged[2u + own_columns], 292u, 18u);
        let b2 = subgroupMatrixLoad<subgroup_matrix_right<f16, 16, 16>, row_major>(&staged[2u + own_columns], 296u, 18u);
        let b3 = subgroupMatrixLoad<subgroup_matrix_right<f16, 16, 16>, row_major>(&staged[2u + own_columns], 300u, 18u);
        c0_0 = subgroupMatrixMultiplyAccumulate(a0, b0, c0_0);
        c0_1 = subgroupMatrixMultiplyAccumulate(a0, b1, c0_1);
        c0_2 = subgroupMatrixMultiplyAccumulate(a0, b2, c0_2);
        c0_3 = subgroupMatrixMultiplyAccumulate(a0, b3, c0_3);
        c1_0 = subgroupMatrixMultiplyAccumulate(a1, b0, c1_0);
        c1_1 = subgroupMatrixMultiplyAccumulate(a1, b1, c1_1);
        c1_2 = subgroupMatrixMultiplyAccumulate(a1, b2, c1_2);
        c1_3 = subgroupMatrixMultiplyAccumulate(a1, b3, c1_3);
        c2_0 = subgroupMatrixMultiplyAccumulate(a2, b0, c2_0);
        c2_1 = subgroupMatrixMultiplyAccumulate(a2, b1, c2_1);
        c2_2 = subgroupMatrixMultiplyAccumulate(a2, b2, c2_2);
        c2_3 = subgroupMatrixMultiplyAccumulate(a2, b3, c2_3);
        c3_0 = subgroupMatrixMultiplyAccumulate(a3, b0, c3_0);
        c3_1 = subgroupMatrixMultiplyAccumulate(a3, b1, c3_1);
        c3_2 = subgroupMatrixMultiplyAccumulate(a3, b2, c3_2);
        c3_3 = subgroupMatrixMultiplyAccumulate(a3, b3, c3_3);
      }
    }
  }
  let c_at = y0_start(index);
  {
    workgroupBarrier();
    subgroupMatrixStore<row_major>(&staged[subgroup], 0u, c0_0, 34u);
    subgroupMatrixStore<row_major>(&staged[subgroup], 8u, c0_1, 34u);
    subgroupMatrixStore<row_major>(&staged[subgroup], 16u, c0_2, 34u);
    subgroupMatrixStore<row_major>(&staged[subgroup], 24u, c0_3, 34u);
    workgroupBarrier();
    for (var v = subgroup_lane; v < 256u; v += 32u) {
      let row = m0 + own_rows * 64u + v / 16u;
      let n = n0 + own_columns * 64u + 4u * (v % 16u);
      if (row < P.M && n < P.N) {
        let at = v / 16u * 34u + v % 16u * 2u;
        y0_store4(c_at, row, n, vec4f(bitcast<vec2f>(staged[subgroup][at]), bitcast<vec2f>(staged[subgroup][at + 1u])));
      }
    }
  }
  {
    workgroupBarrier();
    subgroupMatrixStore<row_major>(&staged[subgroup], 0u, c1_0, 34u);
    subgroupMatrixStore<row_major>(&staged[subgroup], 8u, c1_1, 34u);
    subgroupMatrixStore<row_major>(&staged[subgroup], 16u, c1_2, 34u);
    subgroupMatrixStore<row_major>(&staged[subgroup], 24u, c1_3, 34u);
    workgroupBarrier();
    for (var v = subgroup_lane; v < 256u; v += 32u) {
      let row = m0 + own_rows * 64u + 16u + v / 16u;
      let n = n0 + own_columns * 64u + 4u * (v % 16u);
      if (row < P.M && n < P.N) {
        let at = v / 16u * 34u + v % 16u * 2u;
        y0_store4(c_at, row, n, vec4f(bitcast<vec2f>(staged[subgroup][at]), bitcast<vec2f>(staged[subgroup][at + 1u])));
      }
    }
  }
  {
    workgroupBarrier();
    subgroupMatrixStore<row_major>(&staged[subgroup], 0u, c2_0, 34u);
    subgroupMatrixStore<row_major>(&staged[subgroup], 8u, c2_1, 34u);
    subgroupMatrixStore<row_major>(&staged[subgroup], 16u, c2_2, 34u);
    subgroupMatrixStore<row_major>(&staged[subgroup], 24u, c2_3, 34u);
    workgroupBarrier();
    for (var v = subgroup_lane; v < 256u; v += 32u) {
      let row = m0 + own_rows * 64u + 32u + v / 16u;
      let n = n0 + own_columns * 64u + 4u * (v % 16u);
      if (row < P.M && n < P.N) {
        let at = v / 16u * 34u + v % 16u * 2u;
        y0_store4(c_at, row, n, vec4f(bitcast<vec2f>(staged[subgroup][at]), bitcast<vec2f>(staged[subgroup][at + 1u])));
      }
    }
  }
  {
    workgroupBarrier();
    subgroupMatrixStore<row_major>(&staged[subgroup], 0u, c3_0, 34u);
    subgroupMatrixStore<row_major>(&staged[subgroup], 8u, c3_1, 34u);
    subgroupMatrixStore<row_major>(&staged[subgroup], 16u, c3_2, 34u);
    subgroupMatrixStore<row_major>(&staged[subgroup], 24u, c3_3, 34u);
    workgroupBarrier();
    for (var v = subgroup_lane; v < 256u; v += 32u) {
      let row = m0 + own_rows * 64u + 48u + v / 16u;
      let n = n0 + own_columns * 64u + 4u * (v % 16u);
      if (row < P.M && n < P.N) {
        let at = v / 16u * 34u + v % 16u * 2u;
        y0_store4(c_at, row, n, vec4f(bitcast<vec2f>(staged[subgroup][at]), bitcast<vec2f>(staged[subgroup][at + 1u])));
      }
    }
  }
}

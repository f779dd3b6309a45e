enable subgroups;
diagnostic(off, subgroup_uniformity);

struct Params {
  first_group: u32,
  end_group: u32,
  tiles: u32,
  head_groups: u32,
  group_k: u32,
  group_v: u32,
  Sq: u32,
  Skv: u32,
  Dqk: u32,
  Dv: u32,
  band_left: i32,
  band_right: i32,
  bottom_right: i32,
  q_base: u32,
  q_sb: u32,
  q_sh: u32,
  q_ss: u32,
  q_sd: u32,
  q_D: u32,
  k_base: u32,
  k_sb: u32,
  k_sh: u32,
  k_ss: u32,
  k_sd: u32,
  k_D: u32,
  v_base: u32,
  v_sb: u32,
  v_sh: u32,
  v_ss: u32,
  v_sd: u32,
  v_D: u32,
  Hq: u32,
  row_stride_h: u32,
  scale: f32,
  o_base: u32,
  o_sb: u32,
  o_sh: u32,
  o_ss: u32,
  o_sd: u32,
  o_D: u32,
  lse_base: u32,
}

@group(0) @binding(0) var<uniform> P: Params;

@group(0) @binding(1) var<storage, read> q: array<vec4f>;

@group(0) @binding(2) var<storage, read> k: array<vec4f>;

@group(0) @binding(3) var<storage, read> v: array<vec4f>;

@group(0) @binding(4) var<storage, read_write> o: array<vec4f>;

@group(0) @binding(5) var<storage, read_write> lse_rows: array<u32>;

fn has_non_finite(x: vec4f) -> bool {
  return any((bitcast<vec4u>(x) & vec4u(0x7f800000u)) == vec4u(0x7f800000u));
}

fn mark_non_finite(x: vec4f) -> vec4f {
  let is_high = (bitcast<vec4i>(x) > vec4i(0x7f7fffff)) | (bitcast<vec4u>(x) > vec4u(0xff800000u));
  return select(x, vec4f(0x1.fffffep+127f), is_high);
}

fn weighted(weight: f32, x: vec4f) -> vec4f {
  return select(weight * x, vec4f(), weight == 0.0);
}

fn length_q(b: u32) -> u32 {
  return P.Sq;
}

fn length_kv(b: u32) -> u32 {
  return P.Skv;
}

struct Sequence {
  b: u32,
  diagonal: i32,
  length_q: u32,
  length_kv: u32,
}

fn sequence_at(b: u32) -> Sequence {
  return Sequence(
    b,
    P.bottom_right * (i32(length_kv(b)) - i32(length_q(b))),
    length_q(b),
    length_kv(b),
  );
}

fn key_range(seq: Sequence, i0: u32, i1: u32) -> vec2u {
  let last = min(i1, seq.length_q);
  if (i0 >= last) {
    return vec2u(0u);
  }
  let low = i32(i0) + seq.diagonal - P.band_left;
  let high = i32(last) + seq.diagonal + P.band_right;
  return vec2u(u32(max(low, 0)), u32(clamp(high, 0, i32(seq.length_kv))));
}

fn tile_inside(seq: Sequence, i0: u32, i1: u32, j0: u32, j1: u32) -> bool {
  return i1 <= seq.length_q && j1 <= seq.length_kv
    && i32(j0) >= i32(i1) - 1 + seq.diagonal - P.band_left
    && i32(j1) - 1 <= i32(i0) + seq.diagonal + P.band_right;
}

fn in_range4(seq: Sequence, i: u32, j: u32) -> vec4<bool> {
  let centre = i32(i) + seq.diagonal;
  let first = centre - P.band_left;
  let count = min(centre + P.band_right + 1, i32(seq.length_kv)) - first;
  let visible = select(0, max(count, 0), i < seq.length_q);
  return vec4u(j - u32(first)) + vec4u(0, 1, 2, 3) < vec4u(u32(visible));
}

fn q_row(seq: Sequence, h: u32, s: u32) -> u32 {
  return P.q_base + h * P.q_sh + seq.b * P.q_sb + s * P.q_ss;
}

fn q_load4(row: u32, d: u32) -> vec4f {
  return q[(row + d) >> 2u];
}

fn k_row(seq: Sequence, h: u32, s: u32) -> u32 {
  return P.k_base + h * P.k_sh + seq.b * P.k_sb + s * P.k_ss;
}

fn k_load4(row: u32, d: u32) -> vec4f {
  return k[(row + d) >> 2u];
}

fn v_row(seq: Sequence, h: u32, s: u32) -> u32 {
  return P.v_base + h * P.v_sh + seq.b * P.v_sb + s * P.v_ss;
}

fn v_load4(row: u32, d: u32) -> vec4f {
  return v[(row + d) >> 2u];
}

fn row_at(seq: Sequence, h: u32, i: u32) -> u32 {
  return (seq.b * P.Hq + h) * P.row_stride_h + i;
}

fn row_count(seq: Sequence) -> u32 {
  return P.Sq;
}

struct Score4 {
  value: vec4f,
  slope: vec4f,
  visible: vec4<bool>,
}

fn score4(seq: Sequence, h: u32, i: u32, j: u32, dots: vec4f, full_tile: bool) -> Score4 {
  var s = dots;
  var slope = vec4f(1.0);
  var visible = vec4<bool>(true);
  if (!full_tile) {
    visible = in_range4(seq, i, j);
  }
  s *= P.scale;
  slope *= P.scale;
  return Score4(mark_non_finite(s), slope, visible);
}

fn o_row(seq: Sequence, h: u32, s: u32) -> u32 {
  return P.o_base + h * P.o_sh + seq.b * P.o_sb + s * P.o_ss;
}

fn o_store4(row: u32, d: u32, x: vec4f) {
  o[(row + d) >> 2u] = x;
}

fn softmax_bits(x: f32, no_keys: u32, m: f32, l: f32) -> u32 {
  return select(select(bitcast<u32>(x), no_keys, l == 0.0), 0x7fc00000u, m == 0x1.fffffep+127f);
}

fn output_scale(m: f32, l: f32, scale: f32) -> f32 {
  return bitcast<f32>(softmax_bits(scale / l, 0u, m, l));
}

fn lse_write(at: u32, m: f32, l: f32) {
  lse_rows[P.lse_base + at] = softmax_bits(m + log(l), 0xff800000u, m, l);
}

fn largest(s: Score4) -> f32 {
  let x = select(vec4f(-0x1.fffffep+127f), s.value, s.visible);
  return max(max(x.x, x.y), max(x.z, x.w));
}

fn sum4(x: vec4f) -> f32 {
  return dot(x, vec4f(1.0));
}

@compute @workgroup_size(8)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) workgroups: vec3u,
  @builtin(local_invocation_index) lane: u32,
  @builtin(subgroup_invocation_id) subgroup_lane: u32,
) {
  let group = P.first_group + workgroup.x + workgroup.y * workgroups.x;
  if (group >= P.end_group) {
    return;
  }

  // One tile of queries
  let n = group;
  let tile = P.tiles - 1u - n % P.tiles;
  let h = (n / P.tiles) % P.head_groups;
  let h_k = h / P.group_k;
  let h_v = h / P.group_v;
  let seq = sequence_at(n / (P.tiles * P.head_groups));
  let row0 = tile * 32u;
  let i0 = row0;
  let i1 = row0 + 32u;
  let tx = 0u;
  let ty = lane;

  // Each row's maximum m, sum l over this lane's keys, and O
  var m0 = -0x1.fffffep+127f;
  var l0 = 0.0;
  var m1 = -0x1.fffffep+127f;
  var l1 = 0.0;
  var m2 = -0x1.fffffep+127f;
  var l2 = 0.0;
  var m3 = -0x1.fffffep+127f;
  var l3 = 0.0;
  var acc0_0 = vec4f();
  var acc0_1 = vec4f();
  var acc0_2 = vec4f();
  var acc0_3 = vec4f();
  var acc0_4 = vec4f();
  var acc0_5 = vec4f();
  var acc0_6 = vec4f();
  var acc0_7 = vec4f();
  var acc0_8 = vec4f();
  var acc0_9 = vec4f();
  var acc0_10 = vec4f();
  var acc0_11 = vec4f();
  var acc0_12 = vec4f();
  var acc0_13 = vec4f();
  var acc0_14 = vec4f();
  var acc0_15 = vec4f();
  var acc1_0 = vec4f();
  var acc1_1 = vec4f();
  var acc1_2 = vec4f();
  var acc1_3 = vec4f();
  var acc1_4 = vec4f();
  var acc1_5 = vec4f();
  var acc1_6 = vec4f();
  var acc1_7 = vec4f();
  var acc1_8 = vec4f();
  var acc1_9 = vec4f();
  var acc1_10 = vec4f();
  var acc1_11 = vec4f();
  var acc1_12 = vec4f();
  var acc1_13 = vec4f();
  var acc1_14 = vec4f();
  var acc1_15 = vec4f();
  var acc2_0 = vec4f();
  var acc2_1 = vec4f();
  var acc2_2 = vec4f();
  var acc2_3 = vec4f();
  var acc2_4 = vec4f();
  var acc2_5 = vec4f();
  var acc2_6 = vec4f();
  var acc2_7 = vec4f();
  var acc2_8 = vec4f();
  var acc2_9 = vec4f();
  var acc2_10 = vec4f();
  var acc2_11 = vec4f();
  var acc2_12 = vec4f();
  var acc2_13 = vec4f();
  var acc2_14 = vec4f();
  var acc2_15 = vec4f();
  var acc3_0 = vec4f();
  var acc3_1 = vec4f();
  var acc3_2 = vec4f();
  var acc3_3 = vec4f();
  var acc3_4 = vec4f();
  var acc3_5 = vec4f();
  var acc3_6 = vec4f();
  var acc3_7 = vec4f();
  var acc3_8 = vec4f();
  var acc3_9 = vec4f();
  var acc3_10 = vec4f();
  var acc3_11 = vec4f();
  var acc3_12 = vec4f();
  var acc3_13 = vec4f();
  var acc3_14 = vec4f();
  var acc3_15 = vec4f();

  var q_stationary = array<vec4f, 64>();
  for (var r = 0u; r < 4u; r++) {
    let row = q_row(seq, h, min(i0 + lane * 4u + r, max(seq.length_q, 1u) - 1u));
    for (var d = 0u; d < P.Dqk; d += 4u) {
      q_stationary[r * 16u + d / 4u] = q_load4(row, d);
    }
  }
  var k_streamed = array<vec4f, 16>();
  var v_streamed = array<vec4f, 16>();
  let keys = key_range(seq, i0, i1);
  for (var j0 = keys.x / 8u * 8u; j0 < keys.y; j0 += 8u) {
    // S = Q·Kᵀ
    let full_tile = tile_inside(seq, i0, i1, j0, j0 + 8u);
    {
      let row = k_row(seq, h_k, min(j0 + (subgroup_lane & 7u), max(seq.length_kv, 1u) - 1u));
      for (var d = 0u; d < P.Dqk; d += 16u) {
        let x0 = k_load4(row, d + 0u);
        let x1 = k_load4(row, d + 4u);
        let x2 = k_load4(row, d + 8u);
        let x3 = k_load4(row, d + 12u);
        switch d {
          case 0u, default: {
            k_streamed[0] = x0;
            k_streamed[1] = x1;
            k_streamed[2] = x2;
            k_streamed[3] = x3;
          }
          case 16u: {
            k_streamed[4] = x0;
            k_streamed[5] = x1;
            k_streamed[6] = x2;
            k_streamed[7] = x3;
          }
          case 32u: {
            k_streamed[8] = x0;
            k_streamed[9] = x1;
            k_streamed[10] = x2;
            k_streamed[11] = x3;
          }
          case 48u: {
            k_streamed[12] = x0;
            k_streamed[13] = x1;
            k_streamed[14] = x2;
            k_streamed[15] = x3;
          }
        }
      }
    }
    var s0_0 = 0.0;
    var s0_1 = 0.0;
    var s0_2 = 0.0;
    var s0_3 = 0.0;
    var s0_4 = 0.0;
    var s0_5 = 0.0;
    var s0_6 = 0.0;
    var s0_7 = 0.0;
    var s1_0 = 0.0;
    var s1_1 = 0.0;
    var s1_2 = 0.0;
    var s1_3 = 0.0;
    var s1_4 = 0.0;
    var s1_5 = 0.0;
    var s1_6 = 0.0;
    var s1_7 = 0.0;
    var s2_0 = 0.0;
    var s2_1 = 0.0;
    var s2_2 = 0.0;
    var s2_3 = 0.0;
    var s2_4 = 0.0;
    var s2_5 = 0.0;
    var s2_6 = 0.0;
    var s2_7 = 0.0;
    var s3_0 = 0.0;
    var s3_1 = 0.0;
    var s3_2 = 0.0;
    var s3_3 = 0.0;
    var s3_4 = 0.0;
    var s3_5 = 0.0;
    var s3_6 = 0.0;
    var s3_7 = 0.0;
    for (var turn = 0u; turn < 8u; turn++) {
      var sum0 = vec4f();
      var sum1 = vec4f();
      var sum2 = vec4f();
      var sum3 = vec4f();
      let broadcast0 = subgroupShuffle(k_streamed[0], turn);
      sum0 = fma(q_stationary[0], broadcast0, sum0);
      sum1 = fma(q_stationary[16], broadcast0, sum1);
      sum2 = fma(q_stationary[32], broadcast0, sum2);
      sum3 = fma(q_stationary[48], broadcast0, sum3);
      let broadcast1 = subgroupShuffle(k_streamed[1], turn);
      sum0 = fma(q_stationary[1], broadcast1, sum0);
      sum1 = fma(q_stationary[17], broadcast1, sum1);
      sum2 = fma(q_stationary[33], broadcast1, sum2);
      sum3 = fma(q_stationary[49], broadcast1, sum3);
      let broadcast2 = subgroupShuffle(k_streamed[2], turn);
      sum0 = fma(q_stationary[2], broadcast2, sum0);
      sum1 = fma(q_stationary[18], broadcast2, sum1);
      sum2 = fma(q_stationary[34], broadcast2, sum2);
      sum3 = fma(q_stationary[50], broadcast2, sum3);
      let broadcast3 = subgroupShuffle(k_streamed[3], turn);
      sum0 = fma(q_stationary[3], broadcast3, sum0);
      sum1 = fma(q_stationary[19], broadcast3, sum1);
      sum2 = fma(q_stationary[35], broadcast3, sum2);
      sum3 = fma(q_stationary[51], broadcast3, sum3);
      let broadcast4 = subgroupShuffle(k_streamed[4], turn);
      sum0 = fma(q_stationary[4], broadcast4, sum0);
      sum1 = fma(q_stationary[20], broadcast4, sum1);
      sum2 = fma(q_stationary[36], broadcast4, sum2);
      sum3 = fma(q_stationary[52], broadcast4, sum3);
      let broadcast5 = subgroupShuffle(k_streamed[5], turn);
      sum0 = fma(q_stationary[5], broadcast5, sum0);
      sum1 = fma(q_stationary[21], broadcast5, sum1);
      sum2 = fma(q_stationary[37], broadcast5, sum2);
      sum3 = fma(q_stationary[53], broadcast5, sum3);
      let broadcast6 = subgroupShuffle(k_streamed[6], turn);
      sum0 = fma(q_stationary[6], broadcast6, sum0);
      sum1 = fma(q_stationary[22], broadcast6, sum1);
      sum2 = fma(q_stationary[38], broadcast6, sum2);
      sum3 = fma(q_stationary[54], broadcast6, sum3);
      let broadcast7 = subgroupShuffle(k_streamed[7], turn);
      sum0 = fma(q_stationary[7], broadcast7, sum0);
      sum1 = fma(q_stationary[23], broadcast7, sum1);
      sum2 = fma(q_stationary[39], broadcast7, sum2);
      sum3 = fma(q_stationary[55], broadcast7, sum3);
      let broadcast8 = subgroupShuffle(k_streamed[8], turn);
      sum0 = fma(q_stationary[8], broadcast8, sum0);
      sum1 = fma(q_stationary[24], broadcast8, sum1);
      sum2 = fma(q_stationary[40], broadcast8, sum2);
      sum3 = fma(q_stationary[56], broadcast8, sum3);
      let broadcast9 = subgroupShuffle(k_streamed[9], turn);
      sum0 = fma(q_stationary[9], broadcast9, sum0);
      sum1 = fma(q_stationary[25], broadcast9, sum1);
      sum2 = fma(q_stationary[41], broadcast9, sum2);
      sum3 = fma(q_stationary[57], broadcast9, sum3);
      let broadcast10 = subgroupShuffle(k_streamed[10], turn);
      sum0 = fma(q_stationary[10], broadcast10, sum0);
      sum1 = fma(q_stationary[26], broadcast10, sum1);
      sum2 = fma(q_stationary[42], broadcast10, sum2);
      sum3 = fma(q_stationary[58], broadcast10, sum3);
      let broadcast11 = subgroupShuffle(k_streamed[11], turn);
      sum0 = fma(q_stationary[11], broadcast11, sum0);
      sum1 = fma(q_stationary[27], broadcast11, sum1);
      sum2 = fma(q_stationary[43], broadcast11, sum2);
      sum3 = fma(q_stationary[59], broadcast11, sum3);
      let broadcast12 = subgroupShuffle(k_streamed[12], turn);
      sum0 = fma(q_stationary[12], broadcast12, sum0);
      sum1 = fma(q_stationary[28], broadcast12, sum1);
      sum2 = fma(q_stationary[44], broadcast12, sum2);
      sum3 = fma(q_stationary[60], broadcast12, sum3);
      let broadcast13 = subgroupShuffle(k_streamed[13], turn);
      sum0 = fma(q_stationary[13], broadcast13, sum0);
      sum1 = fma(q_stationary[29], broadcast13, sum1);
      sum2 = fma(q_stationary[45], broadcast13, sum2);
      sum3 = fma(q_stationary[61], broadcast13, sum3);
      let broadcast14 = subgroupShuffle(k_streamed[14], turn);
      sum0 = fma(q_stationary[14], broadcast14, sum0);
      sum1 = fma(q_stationary[30], broadcast14, sum1);
      sum2 = fma(q_stationary[46], broadcast14, sum2);
      sum3 = fma(q_stationary[62], broadcast14, sum3);
      let broadcast15 = subgroupShuffle(k_streamed[15], turn);
      sum0 = fma(q_stationary[15], broadcast15, sum0);
      sum1 = fma(q_stationary[31], broadcast15, sum1);
      sum2 = fma(q_stationary[47], broadcast15, sum2);
      sum3 = fma(q_stationary[63], broadcast15, sum3);
      let product0 = dot(sum0, vec4f(1.0));
      let product1 = dot(sum1, vec4f(1.0));
      let product2 = dot(sum2, vec4f(1.0));
      let product3 = dot(sum3, vec4f(1.0));
      s0_0 = select(s0_0, product0, turn == 0u);
      s0_1 = select(s0_1, product0, turn == 1u);
      s0_2 = select(s0_2, product0, turn == 2u);
      s0_3 = select(s0_3, product0, turn == 3u);
      s0_4 = select(s0_4, product0, turn == 4u);
      s0_5 = select(s0_5, product0, turn == 5u);
      s0_6 = select(s0_6, product0, turn == 6u);
      s0_7 = select(s0_7, product0, turn == 7u);
      s1_0 = select(s1_0, product1, turn == 0u);
      s1_1 = select(s1_1, product1, turn == 1u);
      s1_2 = select(s1_2, product1, turn == 2u);
      s1_3 = select(s1_3, product1, turn == 3u);
      s1_4 = select(s1_4, product1, turn == 4u);
      s1_5 = select(s1_5, product1, turn == 5u);
      s1_6 = select(s1_6, product1, turn == 6u);
      s1_7 = select(s1_7, product1, turn == 7u);
      s2_0 = select(s2_0, product2, turn == 0u);
      s2_1 = select(s2_1, product2, turn == 1u);
      s2_2 = select(s2_2, product2, turn == 2u);
      s2_3 = select(s2_3, product2, turn == 3u);
      s2_4 = select(s2_4, product2, turn == 4u);
      s2_5 = select(s2_5, product2, turn == 5u);
      s2_6 = select(s2_6, product2, turn == 6u);
      s2_7 = select(s2_7, product2, turn == 7u);
      s3_0 = select(s3_0, product3, turn == 0u);
      s3_1 = select(s3_1, product3, turn == 1u);
      s3_2 = select(s3_2, product3, turn == 2u);
      s3_3 = select(s3_3, product3, turn == 3u);
      s3_4 = select(s3_4, product3, turn == 4u);
      s3_5 = select(s3_5, product3, turn == 5u);
      s3_6 = select(s3_6, product3, turn == 6u);
      s3_7 = select(s3_7, product3, turn == 7u);
    }
    let s0 = vec4f(s0_0, s0_1, s0_2, s0_3);
    let s1 = vec4f(s0_4, s0_5, s0_6, s0_7);
    let s2 = vec4f(s1_0, s1_1, s1_2, s1_3);
    let s3 = vec4f(s1_4, s1_5, s1_6, s1_7);
    let s4 = vec4f(s2_0, s2_1, s2_2, s2_3);
    let s5 = vec4f(s2_4, s2_5, s2_6, s2_7);
    let s6 = vec4f(s3_0, s3_1, s3_2, s3_3);
    let s7 = vec4f(s3_4, s3_5, s3_6, s3_7);

    let j = j0 + tx * 8u;
    var p0 = vec4f();
    var p1 = vec4f();
    var p2 = vec4f();
    var p3 = vec4f();
    var p4 = vec4f();
    var p5 = vec4f();
    var p6 = vec4f();
    var p7 = vec4f();
    var rescale0 = 1.0;
    var rescale1 = 1.0;
    var rescale2 = 1.0;
    var rescale3 = 1.0;
    var scored0 = Score4();
    var scored1 = Score4();
    var scored2 = Score4();
    var scored3 = Score4();
    var scored4 = Score4();
    var scored5 = Score4();
    var scored6 = Score4();
    var scored7 = Score4();
    {
      let head = h;
      let query = row0 + ty * 4u + 0u;
      scored0 = score4(seq, head, query, j, s0, full_tile);
    }
    {
      let head = h;
      let query = row0 + ty * 4u + 0u;
      scored1 = score4(seq, head, query, j + 4u, s1, full_tile);
    }
    {
      let head = h;
      let query = row0 + ty * 4u + 1u;
      scored2 = score4(seq, head, query, j, s2, full_tile);
    }
    {
      let head = h;
      let query = row0 + ty * 4u + 1u;
      scored3 = score4(seq, head, query, j + 4u, s3, full_tile);
    }
    {
      let head = h;
      let query = row0 + ty * 4u + 2u;
      scored4 = score4(seq, head, query, j, s4, full_tile);
    }
    {
      let head = h;
      let query = row0 + ty * 4u + 2u;
      scored5 = score4(seq, head, query, j + 4u, s5, full_tile);
    }
    {
      let head = h;
      let query = row0 + ty * 4u + 3u;
      scored6 = score4(seq, head, query, j, s6, full_tile);
    }
    {
      let head = h;
      let query = row0 + ty * 4u + 3u;
      scored7 = score4(seq, head, query, j + 4u, s7, full_tile);
    }

    // m' = max(m, rowmax(S))
    let m_seen0 = max(max(m0, largest(scored0)), largest(scored1));
    let m_seen1 = max(max(m1, largest(scored2)), largest(scored3));
    let m_seen2 = max(max(m2, largest(scored4)), largest(scored5));
    let m_seen3 = max(max(m3, largest(scored6)), largest(scored7));
    let m_new0 = select(m0, m_seen0, m_seen0 > m0 + 8.0);
    let shift0 = m_new0;
    let m_new1 = select(m1, m_seen1, m_seen1 > m1 + 8.0);
    let shift1 = m_new1;
    let m_new2 = select(m2, m_seen2, m_seen2 > m2 + 8.0);
    let shift2 = m_new2;
    let m_new3 = select(m3, m_seen3, m_seen3 > m3 + 8.0);
    let shift3 = m_new3;

    // P = e^(S − m')
    p0 = select(vec4f(), exp(scored0.value - shift0), scored0.visible);
    p1 = select(vec4f(), exp(scored1.value - shift0), scored1.visible);
    p2 = select(vec4f(), exp(scored2.value - shift1), scored2.visible);
    p3 = select(vec4f(), exp(scored3.value - shift1), scored3.visible);
    p4 = select(vec4f(), exp(scored4.value - shift2), scored4.visible);
    p5 = select(vec4f(), exp(scored5.value - shift2), scored5.visible);
    p6 = select(vec4f(), exp(scored6.value - shift3), scored6.visible);
    p7 = select(vec4f(), exp(scored7.value - shift3), scored7.visible);

    // l' = e^(m − m') · l + rowsum(P)
    rescale0 = select(exp(m0 - m_new0), 1.0, l0 == 0.0);
    m0 = m_new0;
    l0 = l0 * rescale0 + sum4(p0) + sum4(p1);
    rescale1 = select(exp(m1 - m_new1), 1.0, l1 == 0.0);
    m1 = m_new1;
    l1 = l1 * rescale1 + sum4(p2) + sum4(p3);
    rescale2 = select(exp(m2 - m_new2), 1.0, l2 == 0.0);
    m2 = m_new2;
    l2 = l2 * rescale2 + sum4(p4) + sum4(p5);
    rescale3 = select(exp(m3 - m_new3), 1.0, l3 == 0.0);
    m3 = m_new3;
    l3 = l3 * rescale3 + sum4(p6) + sum4(p7);

    // O' = e^(m − m') · O + P·V
    if (subgroupAny(rescale0 != 1.0 || rescale1 != 1.0 || rescale2 != 1.0 || rescale3 != 1.0)) {
      acc0_0 *= rescale0;
      acc0_1 *= rescale0;
      acc0_2 *= rescale0;
      acc0_3 *= rescale0;
      acc0_4 *= rescale0;
      acc0_5 *= rescale0;
      acc0_6 *= rescale0;
      acc0_7 *= rescale0;
      acc0_8 *= rescale0;
      acc0_9 *= rescale0;
      acc0_10 *= rescale0;
      acc0_11 *= rescale0;
      acc0_12 *= rescale0;
      acc0_13 *= rescale0;
      acc0_14 *= rescale0;
      acc0_15 *= rescale0;
      acc1_0 *= rescale1;
      acc1_1 *= rescale1;
      acc1_2 *= rescale1;
      acc1_3 *= rescale1;
      acc1_4 *= rescale1;
      acc1_5 *= rescale1;
      acc1_6 *= rescale1;
      acc1_7 *= rescale1;
      acc1_8 *= rescale1;
      acc1_9 *= rescale1;
      acc1_10 *= rescale1;
      acc1_11 *= rescale1;
      acc1_12 *= rescale1;
      acc1_13 *= rescale1;
      acc1_14 *= rescale1;
      acc1_15 *= rescale1;
      acc2_0 *= rescale2;
      acc2_1 *= rescale2;
      acc2_2 *= rescale2;
      acc2_3 *= rescale2;
      acc2_4 *= rescale2;
      acc2_5 *= rescale2;
      acc2_6 *= rescale2;
      acc2_7 *= rescale2;
      acc2_8 *= rescale2;
      acc2_9 *= rescale2;
      acc2_10 *= rescale2;
      acc2_11 *= rescale2;
      acc2_12 *= rescale2;
      acc2_13 *= rescale2;
      acc2_14 *= rescale2;
      acc2_15 *= rescale2;
      acc3_0 *= rescale3;
      acc3_1 *= rescale3;
      acc3_2 *= rescale3;
      acc3_3 *= rescale3;
      acc3_4 *= rescale3;
      acc3_5 *= rescale3;
      acc3_6 *= rescale3;
      acc3_7 *= rescale3;
      acc3_8 *= rescale3;
      acc3_9 *= rescale3;
      acc3_10 *= rescale3;
      acc3_11 *= rescale3;
      acc3_12 *= rescale3;
      acc3_13 *= rescale3;
      acc3_14 *= rescale3;
      acc3_15 *= rescale3;
    }
    {
      {
        let row = v_row(seq, h_v, min(j0 + (subgroup_lane & 7u), max(seq.length_kv, 1u) - 1u));
        for (var d = 0u; d < P.Dv; d += 16u) {
          let x0 = v_load4(row, d + 0u);
          let x1 = v_load4(row, d + 4u);
          let x2 = v_load4(row, d + 8u);
          let x3 = v_load4(row, d + 12u);
          switch d {
            case 0u, default: {
              v_streamed[0] = x0;
              v_streamed[1] = x1;
              v_streamed[2] = x2;
              v_streamed[3] = x3;
            }
            case 16u: {
              v_streamed[4] = x0;
              v_streamed[5] = x1;
              v_streamed[6] = x2;
              v_streamed[7] = x3;
            }
            case 32u: {
              v_streamed[8] = x0;
              v_streamed[9] = x1;
              v_streamed[10] = x2;
              v_streamed[11] = x3;
            }
            case 48u: {
              v_streamed[12] = x0;
              v_streamed[13] = x1;
              v_streamed[14] = x2;
              v_streamed[15] = x3;
            }
          }
        }
      }
      let weights0 = array<vec4f, 8>(vec4f(p0[0], p2[0], p4[0], p6[0]), vec4f(p0[1], p2[1], p4[1], p6[1]), vec4f(p0[2], p2[2], p4[2], p6[2]), vec4f(p0[3], p2[3], p4[3], p6[3]), vec4f(p1[0], p3[0], p5[0], p7[0]), vec4f(p1[1], p3[1], p5[1], p7[1]), vec4f(p1[2], p3[2], p5[2], p7[2]), vec4f(p1[3], p3[3], p5[3], p7[3]));
      let non_finite = !full_tile && (has_non_finite(v_streamed[0]) || has_non_finite(v_streamed[1]) || has_non_finite(v_streamed[2]) || has_non_finite(v_streamed[3]) || has_non_finite(v_streamed[4]) || has_non_finite(v_streamed[5]) || has_non_finite(v_streamed[6]) || has_non_finite(v_streamed[7]) || has_non_finite(v_streamed[8]) || has_non_finite(v_streamed[9]) || has_non_finite(v_streamed[10]) || has_non_finite(v_streamed[11]) || has_non_finite(v_streamed[12]) || has_non_finite(v_streamed[13]) || has_non_finite(v_streamed[14]) || has_non_finite(v_streamed[15]));
      if (subgroupAny(non_finite)) {
        for (var turn = 0u; turn < min(seq.length_kv - j0, 8u); turn += 1u) {
          let w0_0 = weights0[turn + 0u];
          let broadcast0_0 = subgroupShuffle(v_streamed[0], turn + 0u);
          acc0_0 = acc0_0 + weighted(w0_0[0], broadcast0_0);
          acc1_0 = acc1_0 + weighted(w0_0[1], broadcast0_0);
          acc2_0 = acc2_0 + weighted(w0_0[2], broadcast0_0);
          acc3_0 = acc3_0 + weighted(w0_0[3], broadcast0_0);
          let broadcast0_1 = subgroupShuffle(v_streamed[1], turn + 0u);
          acc0_1 = acc0_1 + weighted(w0_0[0], broadcast0_1);
          acc1_1 = acc1_1 + weighted(w0_0[1], broadcast0_1);
          acc2_1 = acc2_1 + weighted(w0_0[2], broadcast0_1);
          acc3_1 = acc3_1 + weighted(w0_0[3], broadcast0_1);
          let broadcast0_2 = subgroupShuffle(v_streamed[2], turn + 0u);
          acc0_2 = acc0_2 + weighted(w0_0[0], broadcast0_2);
          acc1_2 = acc1_2 + weighted(w0_0[1], broadcast0_2);
          acc2_2 = acc2_2 + weighted(w0_0[2], broadcast0_2);
          acc3_2 = acc3_2 + weighted(w0_0[3], broadcast0_2);
          let broadcast0_3 = subgroupShuffle(v_streamed[3], turn + 0u);
          acc0_3 = acc0_3 + weighted(w0_0[0], broadcast0_3);
          acc1_3 = acc1_3 + weighted(w0_0[1], broadcast0_3);
          acc2_3 = acc2_3 + weighted(w0_0[2], broadcast0_3);
          acc3_3 = acc3_3 + weighted(w0_0[3], broadcast0_3);
          let broadcast0_4 = subgroupShuffle(v_streamed[4], turn + 0u);
          acc0_4 = acc0_4 + weighted(w0_0[0], broadcast0_4);
          acc1_4 = acc1_4 + weighted(w0_0[1], broadcast0_4);
          acc2_4 = acc2_4 + weighted(w0_0[2], broadcast0_4);
          acc3_4 = acc3_4 + weighted(w0_0[3], broadcast0_4);
          let broadcast0_5 = subgroupShuffle(v_streamed[5], turn + 0u);
          acc0_5 = acc0_5 + weighted(w0_0[0], broadcast0_5);
          acc1_5 = acc1_5 + weighted(w0_0[1], broadcast0_5);
          acc2_5 = acc2_5 + weighted(w0_0[2], broadcast0_5);
          acc3_5 = acc3_5 + weighted(w0_0[3], broadcast0_5);
          let broadcast0_6 = subgroupShuffle(v_streamed[6], turn + 0u);
          acc0_6 = acc0_6 + weighted(w0_0[0], broadcast0_6);
          acc1_6 = acc1_6 + weighted(w0_0[1], broadcast0_6);
          acc2_6 = acc2_6 + weighted(w0_0[2], broadcast0_6);
          acc3_6 = acc3_6 + weighted(w0_0[3], broadcast0_6);
          let broadcast0_7 = subgroupShuffle(v_streamed[7], turn + 0u);
          acc0_7 = acc0_7 + weighted(w0_0[0], broadcast0_7);
          acc1_7 = acc1_7 + weighted(w0_0[1], broadcast0_7);
          acc2_7 = acc2_7 + weighted(w0_0[2], broadcast0_7);
          acc3_7 = acc3_7 + weighted(w0_0[3], broadcast0_7);
          let broadcast0_8 = subgroupShuffle(v_streamed[8], turn + 0u);
          acc0_8 = acc0_8 + weighted(w0_0[0], broadcast0_8);
          acc1_8 = acc1_8 + weighted(w0_0[1], broadcast0_8);
          acc2_8 = acc2_8 + weighted(w0_0[2], broadcast0_8);
          acc3_8 = acc3_8 + weighted(w0_0[3], broadcast0_8);
          let broadcast0_9 = subgroupShuffle(v_streamed[9], turn + 0u);
          acc0_9 = acc0_9 + weighted(w0_0[0], broadcast0_9);
          acc1_9 = acc1_9 + weighted(w0_0[1], broadcast0_9);
          acc2_9 = acc2_9 + weighted(w0_0[2], broadcast0_9);
          acc3_9 = acc3_9 + weighted(w0_0[3], broadcast0_9);
          let broadcast0_10 = subgroupShuffle(v_streamed[10], turn + 0u);
          acc0_10 = acc0_10 + weighted(w0_0[0], broadcast0_10);
          acc1_10 = acc1_10 + weighted(w0_0[1], broadcast0_10);
          acc2_10 = acc2_10 + weighted(w0_0[2], broadcast0_10);
          acc3_10 = acc3_10 + weighted(w0_0[3], broadcast0_10);
          let broadcast0_11 = subgroupShuffle(v_streamed[11], turn + 0u);
          acc0_11 = acc0_11 + weighted(w0_0[0], broadcast0_11);
          acc1_11 = acc1_11 + weighted(w0_0[1], broadcast0_11);
          acc2_11 = acc2_11 + weighted(w0_0[2], broadcast0_11);
          acc3_11 = acc3_11 + weighted(w0_0[3], broadcast0_11);
          let broadcast0_12 = subgroupShuffle(v_streamed[12], turn + 0u);
          acc0_12 = acc0_12 + weighted(w0_0[0], broadcast0_12);
          acc1_12 = acc1_12 + weighted(w0_0[1], broadcast0_12);
          acc2_12 = acc2_12 + weighted(w0_0[2], broadcast0_12);
          acc3_12 = acc3_12 + weighted(w0_0[3], broadcast0_12);
          let broadcast0_13 = subgroupShuffle(v_streamed[13], turn + 0u);
          acc0_13 = acc0_13 + weighted(w0_0[0], broadcast0_13);
          acc1_13 = acc1_13 + weighted(w0_0[1], broadcast0_13);
          acc2_13 = acc2_13 + weighted(w0_0[2], broadcast0_13);
          acc3_13 = acc3_13 + weighted(w0_0[3], broadcast0_13);
          let broadcast0_14 = subgroupShuffle(v_streamed[14], turn + 0u);
          acc0_14 = acc0_14 + weighted(w0_0[0], broadcast0_14);
          acc1_14 = acc1_14 + weighted(w0_0[1], broadcast0_14);
          acc2_14 = acc2_14 + weighted(w0_0[2], broadcast0_14);
          acc3_14 = acc3_14 + weighted(w0_0[3], broadcast0_14);
          let broadcast0_15 = subgroupShuffle(v_streamed[15], turn + 0u);
          acc0_15 = acc0_15 + weighted(w0_0[0], broadcast0_15);
          acc1_15 = acc1_15 + weighted(w0_0[1], broadcast0_15);
          acc2_15 = acc2_15 + weighted(w0_0[2], broadcast0_15);
          acc3_15 = acc3_15 + weighted(w0_0[3], broadcast0_15);
        }
      } else {
        for (var turn = 0u; turn < 8u; turn += 2u) {
          let w0_0 = weights0[turn + 0u];
          let w1_0 = weights0[turn + 1u];
          let broadcast0_0 = subgroupShuffle(v_streamed[0], turn + 0u);
          acc0_0 = fma(vec4f(w0_0[0]), broadcast0_0, acc0_0);
          acc1_0 = fma(vec4f(w0_0[1]), broadcast0_0, acc1_0);
          acc2_0 = fma(vec4f(w0_0[2]), broadcast0_0, acc2_0);
          acc3_0 = fma(vec4f(w0_0[3]), broadcast0_0, acc3_0);
          let broadcast1_0 = subgroupShuffle(v_streamed[0], turn + 1u);
          acc0_0 = fma(vec4f(w1_0[0]), broadcast1_0, acc0_0);
          acc1_0 = fma(vec4f(w1_0[1]), broadcast1_0, acc1_0);
          acc2_0 = fma(vec4f(w1_0[2]), broadcast1_0, acc2_0);
          acc3_0 = fma(vec4f(w1_0[3]), broadcast1_0, acc3_0);
          let broadcast0_1 = subgroupShuffle(v_streamed[1], turn + 0u);
          acc0_1 = fma(vec4f(w0_0[0]), broadcast0_1, acc0_1);
          acc1_1 = fma(vec4f(w0_0[1]), broadcast0_1, acc1_1);
          acc2_1 = fma(vec4f(w0_0[2]), broadcast0_1, acc2_1);
          acc3_1 = fma(vec4f(w0_0[3]), broadcast0_1, acc3_1);
          let broadcast1_1 = subgroupShuffle(v_streamed[1], turn + 1u);
          acc0_1 = fma(vec4f(w1_0[0]), broadcast1_1, acc0_1);
          acc1_1 = fma(vec4f(w1_0[1]), broadcast1_1, acc1_1);
          acc2_1 = fma(vec4f(w1_0[2]), broadcast1_1, acc2_1);
          acc3_1 = fma(vec4f(w1_0[3]), broadcast1_1, acc3_1);
          let broadcast0_2 = subgroupShuffle(v_streamed[2], turn + 0u);
          acc0_2 = fma(vec4f(w0_0[0]), broadcast0_2, acc0_2);
          acc1_2 = fma(vec4f(w0_0[1]), broadcast0_2, acc1_2);
          acc2_2 = fma(vec4f(w0_0[2]), broadcast0_2, acc2_2);
          acc3_2 = fma(vec4f(w0_0[3]), broadcast0_2, acc3_2);
          let broadcast1_2 = subgroupShuffle(v_streamed[2], turn + 1u);
          acc0_2 = fma(vec4f(w1_0[0]), broadcast1_2, acc0_2);
          acc1_2 = fma(vec4f(w1_0[1]), broadcast1_2, acc1_2);
          acc2_2 = fma(vec4f(w1_0[2]), broadcast1_2, acc2_2);
          acc3_2 = fma(vec4f(w1_0[3]), broadcast1_2, acc3_2);
          let broadcast0_3 = subgroupShuffle(v_streamed[3], turn + 0u);
          acc0_3 = fma(vec4f(w0_0[0]), broadcast0_3, acc0_3);
          acc1_3 = fma(vec4f(w0_0[1]), broadcast0_3, acc1_3);
          acc2_3 = fma(vec4f(w0_0[2]), broadcast0_3, acc2_3);
          acc3_3 = fma(vec4f(w0_0[3]), broadcast0_3, acc3_3);
          let broadcast1_3 = subgroupShuffle(v_streamed[3], turn + 1u);
          acc0_3 = fma(vec4f(w1_0[0]), broadcast1_3, acc0_3);
          acc1_3 = fma(vec4f(w1_0[1]), broadcast1_3, acc1_3);
          acc2_3 = fma(vec4f(w1_0[2]), broadcast1_3, acc2_3);
          acc3_3 = fma(vec4f(w1_0[3]), broadcast1_3, acc3_3);
          let broadcast0_4 = subgroupShuffle(v_streamed[4], turn + 0u);
          acc0_4 = fma(vec4f(w0_0[0]), broadcast0_4, acc0_4);
          acc1_4 = fma(vec4f(w0_0[1]), broadcast0_4, acc1_4);
          acc2_4 = fma(vec4f(w0_0[2]), broadcast0_4, acc2_4);
          acc3_4 = fma(vec4f(w0_0[3]), broadcast0_4, acc3_4);
          let broadcast1_4 = subgroupShuffle(v_streamed[4], turn + 1u);
          acc0_4 = fma(vec4f(w1_0[0]), broadcast1_4, acc0_4);
          acc1_4 = fma(vec4f(w1_0[1]), broadcast1_4, acc1_4);
          acc2_4 = fma(vec4f(w1_0[2]), broadcast1_4, acc2_4);
          acc3_4 = fma(vec4f(w1_0[3]), broadcast1_4, acc3_4);
          let broadcast0_5 = subgroupShuffle(v_streamed[5], turn + 0u);
          acc0_5 = fma(vec4f(w0_0[0]), broadcast0_5, acc0_5);
          acc1_5 = fma(vec4f(w0_0[1]), broadcast0_5, acc1_5);
          acc2_5 = fma(vec4f(w0_0[2]), broadcast0_5, acc2_5);
          acc3_5 = fma(vec4f(w0_0[3]), broadcast0_5, acc3_5);
          let broadcast1_5 = subgroupShuffle(v_streamed[5], turn + 1u);
          acc0_5 = fma(vec4f(w1_0[0]), broadcast1_5, acc0_5);
          acc1_5 = fma(vec4f(w1_0[1]), broadcast1_5, acc1_5);
          acc2_5 = fma(vec4f(w1_0[2]), broadcast1_5, acc2_5);
          acc3_5 = fma(vec4f(w1_0[3]), broadcast1_5, acc3_5);
          let broadcast0_6 = subgroupShuffle(v_streamed[6], turn + 0u);
          acc0_6 = fma(vec4f(w0_0[0]), broadcast0_6, acc0_6);
          acc1_6 = fma(vec4f(w0_0[1]), broadcast0_6, acc1_6);
          acc2_6 = fma(vec4f(w0_0[2]), broadcast0_6, acc2_6);
          acc3_6 = fma(vec4f(w0_0[3]), broadcast0_6, acc3_6);
          let broadcast1_6 = subgroupShuffle(v_streamed[6], turn + 1u);
          acc0_6 = fma(vec4f(w1_0[0]), broadcast1_6, acc0_6);
          acc1_6 = fma(vec4f(w1_0[1]), broadcast1_6, acc1_6);
          acc2_6 = fma(vec4f(w1_0[2]), broadcast1_6, acc2_6);
          acc3_6 = fma(vec4f(w1_0[3]), broadcast1_6, acc3_6);
          let broadcast0_7 = subgroupShuffle(v_streamed[7], turn + 0u);
          acc0_7 = fma(vec4f(w0_0[0]), broadcast0_7, acc0_7);
          acc1_7 = fma(vec4f(w0_0[1]), broadcast0_7, acc1_7);
          acc2_7 = fma(vec4f(w0_0[2]), broadcast0_7, acc2_7);
          acc3_7 = fma(vec4f(w0_0[3]), broadcast0_7, acc3_7);
          let broadcast1_7 = subgroupShuffle(v_streamed[7], turn + 1u);
          acc0_7 = fma(vec4f(w1_0[0]), broadcast1_7, acc0_7);
          acc1_7 = fma(vec4f(w1_0[1]), broadcast1_7, acc1_7);
          acc2_7 = fma(vec4f(w1_0[2]), broadcast1_7, acc2_7);
          acc3_7 = fma(vec4f(w1_0[3]), broadcast1_7, acc3_7);
          let broadcast0_8 = subgroupShuffle(v_streamed[8], turn + 0u);
          acc0_8 = fma(vec4f(w0_0[0]), broadcast0_8, acc0_8);
          acc1_8 = fma(vec4f(w0_0[1]), broadcast0_8, acc1_8);
          acc2_8 = fma(vec4f(w0_0[2]), broadcast0_8, acc2_8);
          acc3_8 = fma(vec4f(w0_0[3]), broadcast0_8, acc3_8);
          let broadcast1_8 = subgroupShuffle(v_streamed[8], turn + 1u);
          acc0_8 = fma(vec4f(w1_0[0]), broadcast1_8, acc0_8);
          acc1_8 = fma(vec4f(w1_0[1]), broadcast1_8, acc1_8);
          acc2_8 = fma(vec4f(w1_0[2]), broadcast1_8, acc2_8);
          acc3_8 = fma(vec4f(w1_0[3]), broadcast1_8, acc3_8);
          let broadcast0_9 = subgroupShuffle(v_streamed[9], turn + 0u);
          acc0_9 = fma(vec4f(w0_0[0]), broadcast0_9, acc0_9);
          acc1_9 = fma(vec4f(w0_0[1]), broadcast0_9, acc1_9);
          acc2_9 = fma(vec4f(w0_0[2]), broadcast0_9, acc2_9);
          acc3_9 = fma(vec4f(w0_0[3]), broadcast0_9, acc3_9);
          let broadcast1_9 = subgroupShuffle(v_streamed[9], turn + 1u);
          acc0_9 = fma(vec4f(w1_0[0]), broadcast1_9, acc0_9);
          acc1_9 = fma(vec4f(w1_0[1]), broadcast1_9, acc1_9);
          acc2_9 = fma(vec4f(w1_0[2]), broadcast1_9, acc2_9);
          acc3_9 = fma(vec4f(w1_0[3]), broadcast1_9, acc3_9);
          let broadcast0_10 = subgroupShuffle(v_streamed[10], turn + 0u);
          acc0_10 = fma(vec4f(w0_0[0]), broadcast0_10, acc0_10);
          acc1_10 = fma(vec4f(w0_0[1]), broadcast0_10, acc1_10);
          acc2_10 = fma(vec4f(w0_0[2]), broadcast0_10, acc2_10);
          acc3_10 = fma(vec4f(w0_0[3]), broadcast0_10, acc3_10);
          let broadcast1_10 = subgroupShuffle(v_streamed[10], turn + 1u);
          acc0_10 = fma(vec4f(w1_0[0]), broadcast1_10, acc0_10);
          acc1_10 = fma(vec4f(w1_0[1]), broadcast1_10, acc1_10);
          acc2_10 = fma(vec4f(w1_0[2]), broadcast1_10, acc2_10);
          acc3_10 = fma(vec4f(w1_0[3]), broadcast1_10, acc3_10);
          let broadcast0_11 = subgroupShuffle(v_streamed[11], turn + 0u);
          acc0_11 = fma(vec4f(w0_0[0]), broadcast0_11, acc0_11);
          acc1_11 = fma(vec4f(w0_0[1]), broadcast0_11, acc1_11);
          acc2_11 = fma(vec4f(w0_0[2]), broadcast0_11, acc2_11);
          acc3_11 = fma(vec4f(w0_0[3]), broadcast0_11, acc3_11);
          let broadcast1_11 = subgroupShuffle(v_streamed[11], turn + 1u);
          acc0_11 = fma(vec4f(w1_0[0]), broadcast1_11, acc0_11);
          acc1_11 = fma(vec4f(w1_0[1]), broadcast1_11, acc1_11);
          acc2_11 = fma(vec4f(w1_0[2]), broadcast1_11, acc2_11);
          acc3_11 = fma(vec4f(w1_0[3]), broadcast1_11, acc3_11);
          let broadcast0_12 = subgroupShuffle(v_streamed[12], turn + 0u);
          acc0_12 = fma(vec4f(w0_0[0]), broadcast0_12, acc0_12);
          acc1_12 = fma(vec4f(w0_0[1]), broadcast0_12, acc1_12);
          acc2_12 = fma(vec4f(w0_0[2]), broadcast0_12, acc2_12);
          acc3_12 = fma(vec4f(w0_0[3]), broadcast0_12, acc3_12);
          let broadcast1_12 = subgroupShuffle(v_streamed[12], turn + 1u);
          acc0_12 = fma(vec4f(w1_0[0]), broadcast1_12, acc0_12);
          acc1_12 = fma(vec4f(w1_0[1]), broadcast1_12, acc1_12);
          acc2_12 = fma(vec4f(w1_0[2]), broadcast1_12, acc2_12);
          acc3_12 = fma(vec4f(w1_0[3]), broadcast1_12, acc3_12);
          let broadcast0_13 = subgroupShuffle(v_streamed[13], turn + 0u);
          acc0_13 = fma(vec4f(w0_0[0]), broadcast0_13, acc0_13);
          acc1_13 = fma(vec4f(w0_0[1]), broadcast0_13, acc1_13);
          acc2_13 = fma(vec4f(w0_0[2]), broadcast0_13, acc2_13);
          acc3_13 = fma(vec4f(w0_0[3]), broadcast0_13, acc3_13);
          let broadcast1_13 = subgroupShuffle(v_streamed[13], turn + 1u);
          acc0_13 = fma(vec4f(w1_0[0]), broadcast1_13, acc0_13);
          acc1_13 = fma(vec4f(w1_0[1]), broadcast1_13, acc1_13);
          acc2_13 = fma(vec4f(w1_0[2]), broadcast1_13, acc2_13);
          acc3_13 = fma(vec4f(w1_0[3]), broadcast1_13, acc3_13);
          let broadcast0_14 = subgroupShuffle(v_streamed[14], turn + 0u);
          acc0_14 = fma(vec4f(w0_0[0]), broadcast0_14, acc0_14);
          acc1_14 = fma(vec4f(w0_0[1]), broadcast0_14, acc1_14);
          acc2_14 = fma(vec4f(w0_0[2]), broadcast0_14, acc2_14);
          acc3_14 = fma(vec4f(w0_0[3]), broadcast0_14, acc3_14);
          let broadcast1_14 = subgroupShuffle(v_streamed[14], turn + 1u);
          acc0_14 = fma(vec4f(w1_0[0]), broadcast1_14, acc0_14);
          acc1_14 = fma(vec4f(w1_0[1]), broadcast1_14, acc1_14);
          acc2_14 = fma(vec4f(w1_0[2]), broadcast1_14, acc2_14);
          acc3_14 = fma(vec4f(w1_0[3]), broadcast1_14, acc3_14);
          let broadcast0_15 = subgroupShuffle(v_streamed[15], turn + 0u);
          acc0_15 = fma(vec4f(w0_0[0]), broadcast0_15, acc0_15);
          acc1_15 = fma(vec4f(w0_0[1]), broadcast0_15, acc1_15);
          acc2_15 = fma(vec4f(w0_0[2]), broadcast0_15, acc2_15);
          acc3_15 = fma(vec4f(w0_0[3]), broadcast0_15, acc3_15);
          let broadcast1_15 = subgroupShuffle(v_streamed[15], turn + 1u);
          acc0_15 = fma(vec4f(w1_0[0]), broadcast1_15, acc0_15);
          acc1_15 = fma(vec4f(w1_0[1]), broadcast1_15, acc1_15);
          acc2_15 = fma(vec4f(w1_0[2]), broadcast1_15, acc2_15);
          acc3_15 = fma(vec4f(w1_0[3]), broadcast1_15, acc3_15);
        }
      }
    }
  }

  // l of all keys
  let sum0 = l0;
  let sum1 = l1;
  let sum2 = l2;
  let sum3 = l3;
  // o = O / l, lse = m + ln l
  let acc_rows = array<vec4f, 64>(acc0_0, acc0_1, acc0_2, acc0_3, acc0_4, acc0_5, acc0_6, acc0_7, acc0_8, acc0_9, acc0_10, acc0_11, acc0_12, acc0_13, acc0_14, acc0_15, acc1_0, acc1_1, acc1_2, acc1_3, acc1_4, acc1_5, acc1_6, acc1_7, acc1_8, acc1_9, acc1_10, acc1_11, acc1_12, acc1_13, acc1_14, acc1_15, acc2_0, acc2_1, acc2_2, acc2_3, acc2_4, acc2_5, acc2_6, acc2_7, acc2_8, acc2_9, acc2_10, acc2_11, acc2_12, acc2_13, acc2_14, acc2_15, acc3_0, acc3_1, acc3_2, acc3_3, acc3_4, acc3_5, acc3_6, acc3_7, acc3_8, acc3_9, acc3_10, acc3_11, acc3_12, acc3_13, acc3_14, acc3_15);
  let m_rows = array(m0, m1, m2, m3);
  let l_rows = array(sum0, sum1, sum2, sum3);
  for (var r = 0u; r < 4u; r++) {
    let head = h;
    let query = row0 + ty * 4u + r;
    let m = m_rows[r];
    let l = l_rows[r];
    let scale = output_scale(m, l, 1.0);
    if (query < P.Sq) {
      let row = o_row(seq, head, query);
      for (var n = 0u; n < (P.Dv + 3u) / 4u; n++) {
        let vector = n;
        if (vector < (P.Dv + 3u) / 4u) {
          o_store4(row, 4u * vector, acc_rows[r * 16u + n] * scale);
        }
      }
    }
    if (tx == 0u && query < row_count(seq)) {
      let at = row_at(seq, head, query);
      lse_write(at, m, l);
    }
  }
}

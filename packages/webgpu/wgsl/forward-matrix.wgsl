enable f16;
enable subgroups;
enable chromium_experimental_subgroup_matrix;
diagnostic(off, chromium.subgroup_matrix_uniformity);

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

@group(0) @binding(1) var<storage, read> q: array<vec2u>;

@group(0) @binding(2) var<storage, read> k: array<vec2u>;

@group(0) @binding(3) var<storage, read> v: array<vec2u>;

@group(0) @binding(4) var<storage, read_write> o: array<vec2u>;

@group(0) @binding(5) var<storage, read_write> lse_rows: array<u32>;

fn has_non_finite(x: vec4f) -> bool {
  return any((bitcast<vec4u>(x) & vec4u(0x7f800000u)) == vec4u(0x7f800000u));
}

fn mark_non_finite(x: vec4f) -> vec4f {
  let is_high = (bitcast<vec4i>(x) > vec4i(0x7f7fffff)) | (bitcast<vec4u>(x) > vec4u(0xff800000u));
  return select(x, vec4f(0x1.fffffep+127f), is_high);
}

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

var<workgroup> k_staged: array<vec4<f16>, 576>;
var<workgroup> v_staged: array<vec4<f16>, 576>;
var<workgroup> scratch: array<array<vec4f, 144>, 4>;
var<workgroup> weights: array<vec4<f16>, 640>;

var<workgroup> shared_flags: array<u32, 4>;

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
  return vec4f(unpack2x16float(q[(row + d) >> 2u].x), unpack2x16float(q[(row + d) >> 2u].y));
}

fn q_load4_f16(row: u32, d: u32) -> vec4<f16> {
  return bitcast<vec4<f16>>(q[(row + d) >> 2u]);
}

fn k_row(seq: Sequence, h: u32, s: u32) -> u32 {
  return P.k_base + h * P.k_sh + seq.b * P.k_sb + s * P.k_ss;
}

fn k_load4(row: u32, d: u32) -> vec4f {
  return vec4f(unpack2x16float(k[(row + d) >> 2u].x), unpack2x16float(k[(row + d) >> 2u].y));
}

fn k_load4_f16(row: u32, d: u32) -> vec4<f16> {
  return bitcast<vec4<f16>>(k[(row + d) >> 2u]);
}

fn v_row(seq: Sequence, h: u32, s: u32) -> u32 {
  return P.v_base + h * P.v_sh + seq.b * P.v_sb + s * P.v_ss;
}

fn v_load4(row: u32, d: u32) -> vec4f {
  return vec4f(unpack2x16float(v[(row + d) >> 2u].x), unpack2x16float(v[(row + d) >> 2u].y));
}

fn v_load4_f16(row: u32, d: u32) -> vec4<f16> {
  return bitcast<vec4<f16>>(v[(row + d) >> 2u]);
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
  return Score4(s, slope, visible);
}

fn o_row(seq: Sequence, h: u32, s: u32) -> u32 {
  return P.o_base + h * P.o_sh + seq.b * P.o_sb + s * P.o_ss;
}

fn o_store4(row: u32, d: u32, x: vec4f) {
  let bits = f16_bits(x);
  o[(row + d) >> 2u] = bits.xz | (bits.yw << vec2u(16u));
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

  // One tile of queries
  let n = group;
  let tile = P.tiles - 1u - n % P.tiles;
  let h = (n / P.tiles) % P.head_groups;
  let h_k = h / P.group_k;
  let h_v = h / P.group_v;
  let seq = sequence_at(n / (P.tiles * P.head_groups));
  let row0 = tile * 64u;
  let i0 = row0;
  let i1 = row0 + 64u;

  let own_weights = subgroup * 160u;
  let tx = subgroup_lane % 2u;
  let ty = subgroup * 16u + subgroup_lane / 2u;

  // Each row's maximum m, sum l over this lane's keys, and O
  var m0 = -0x1.fffffep+127f;
  var l0 = 0.0;
  var acc_0_0 = subgroup_matrix_result<f32, 16, 16>();
  var acc_16_0 = subgroup_matrix_result<f32, 16, 16>();
  var acc_32_0 = subgroup_matrix_result<f32, 16, 16>();
  var acc_48_0 = subgroup_matrix_result<f32, 16, 16>();

  workgroupBarrier();
  for (var n = lane; n < 512u; n += 128u) {
    let r = n / 8u;
    let s = i0 + r;
    let d = 4u * (0u + n % 8u);
    var x = vec4<f16>();
    if (s < seq.length_q && d < P.Dqk) {
      x = q_load4_f16(q_row(seq, h, s), d);
    }
    weights[r / 16u * 160u + r % 16u * 10u + n % 8u] = x;
  }
  workgroupBarrier();
  let held_q_0_0 = subgroupMatrixLoad<subgroup_matrix_left<f16, 16, 16>, row_major>(&weights, own_weights + 0u, 10u);
  let held_q_16_0 = subgroupMatrixLoad<subgroup_matrix_left<f16, 16, 16>, row_major>(&weights, own_weights + 4u, 10u);
  workgroupBarrier();
  for (var n = lane; n < 512u; n += 128u) {
    let r = n / 8u;
    let s = i0 + r;
    let d = 4u * (8u + n % 8u);
    var x = vec4<f16>();
    if (s < seq.length_q && d < P.Dqk) {
      x = q_load4_f16(q_row(seq, h, s), d);
    }
    weights[r / 16u * 160u + r % 16u * 10u + n % 8u] = x;
  }
  workgroupBarrier();
  let held_q_32_0 = subgroupMatrixLoad<subgroup_matrix_left<f16, 16, 16>, row_major>(&weights, own_weights + 0u, 10u);
  let held_q_48_0 = subgroupMatrixLoad<subgroup_matrix_left<f16, 16, 16>, row_major>(&weights, own_weights + 4u, 10u);
  let keys = key_range(seq, i0, i1);
  var j0 = keys.x / 32u * 32u;
  var flags = 0u;
  var factor = 1.0;
  var k_fetched0 = vec4<f16>();
  var k_fetched1 = vec4<f16>();
  var k_fetched2 = vec4<f16>();
  var k_fetched3 = vec4<f16>();
  var v_fetched0 = vec4<f16>();
  var v_fetched1 = vec4<f16>();
  var v_fetched2 = vec4<f16>();
  var v_fetched3 = vec4<f16>();
  var streamed_from = 0xffffffffu;
  var deferred_from = 0xffffffffu;
  var again_until = 0u;
  loop {
    if (j0 >= keys.y) {
      break;
    }
    if (streamed_from != j0) {
      {
        let k_end = max(seq.length_kv, 1u) - 1u;
        k_fetched0 = k_load4_f16(k_row(seq, h_k, min(j0 + (lane / 16u + 0u), k_end)), 4u * (lane % 16u));
        k_fetched1 = k_load4_f16(k_row(seq, h_k, min(j0 + (lane / 16u + 8u), k_end)), 4u * (lane % 16u));
        k_fetched2 = k_load4_f16(k_row(seq, h_k, min(j0 + (lane / 16u + 16u), k_end)), 4u * (lane % 16u));
        k_fetched3 = k_load4_f16(k_row(seq, h_k, min(j0 + (lane / 16u + 24u), k_end)), 4u * (lane % 16u));
      }
      k_staged[(lane / 16u + 0u) * 18u + lane % 16u] = k_fetched0;
      k_staged[(lane / 16u + 8u) * 18u + lane % 16u] = k_fetched1;
      k_staged[(lane / 16u + 16u) * 18u + lane % 16u] = k_fetched2;
      k_staged[(lane / 16u + 24u) * 18u + lane % 16u] = k_fetched3;
      {
        let v_end = max(seq.length_kv, 1u) - 1u;
        v_fetched0 = v_load4_f16(v_row(seq, h_v, min(j0 + (lane / 16u + 0u), v_end)), 4u * (lane % 16u));
        v_fetched1 = v_load4_f16(v_row(seq, h_v, min(j0 + (lane / 16u + 8u), v_end)), 4u * (lane % 16u));
        v_fetched2 = v_load4_f16(v_row(seq, h_v, min(j0 + (lane / 16u + 16u), v_end)), 4u * (lane % 16u));
        v_fetched3 = v_load4_f16(v_row(seq, h_v, min(j0 + (lane / 16u + 24u), v_end)), 4u * (lane % 16u));
      }
      {
        let k_end = max(seq.length_kv, 1u) - 1u;
        k_fetched0 = k_load4_f16(k_row(seq, h_k, min(j0 + 32u + (lane / 16u + 0u), k_end)), 4u * (lane % 16u));
        k_fetched1 = k_load4_f16(k_row(seq, h_k, min(j0 + 32u + (lane / 16u + 8u), k_end)), 4u * (lane % 16u));
        k_fetched2 = k_load4_f16(k_row(seq, h_k, min(j0 + 32u + (lane / 16u + 16u), k_end)), 4u * (lane % 16u));
        k_fetched3 = k_load4_f16(k_row(seq, h_k, min(j0 + 32u + (lane / 16u + 24u), k_end)), 4u * (lane % 16u));
      }
      workgroupBarrier();
    }
    flags = 0u;
    let run = j0;
    var run_end = max(run + 32u, again_until);
    let is_full = run >= again_until && tile_inside(seq, i0, i1, run, run + 32u);
    if (is_full) {
      deferred_from = 0xffffffffu;
      let most = min(run + 8u * 32u, keys.y);
      while (run_end < most && tile_inside(seq, i0, i1, run_end, run_end + 32u)) {
        run_end += 32u;
      }
    }
    for (; j0 < run_end; j0 += 32u) {
      // S = Q·Kᵀ
      let full_tile = is_full;
      var own_flags = 0u;

      streamed_from = j0 + 32u;
      var s_sum0_0 = subgroup_matrix_result<f32, 16, 16>();
      var s_sum1_0 = subgroup_matrix_result<f32, 16, 16>();
      {
        let streamed = subgroupMatrixLoad<subgroup_matrix_right<f16, 16, 16>, col_major>(&k_staged, 0u, 18u);
        s_sum0_0 = subgroupMatrixMultiplyAccumulate(held_q_0_0, streamed, s_sum0_0);
      }
      {
        let streamed = subgroupMatrixLoad<subgroup_matrix_right<f16, 16, 16>, col_major>(&k_staged, 288u, 18u);
        s_sum1_0 = subgroupMatrixMultiplyAccumulate(held_q_0_0, streamed, s_sum1_0);
      }
      {
        let streamed = subgroupMatrixLoad<subgroup_matrix_right<f16, 16, 16>, col_major>(&k_staged, 4u, 18u);
        s_sum0_0 = subgroupMatrixMultiplyAccumulate(held_q_16_0, streamed, s_sum0_0);
      }
      {
        let streamed = subgroupMatrixLoad<subgroup_matrix_right<f16, 16, 16>, col_major>(&k_staged, 292u, 18u);
        s_sum1_0 = subgroupMatrixMultiplyAccumulate(held_q_16_0, streamed, s_sum1_0);
      }
      {
        let streamed = subgroupMatrixLoad<subgroup_matrix_right<f16, 16, 16>, col_major>(&k_staged, 8u, 18u);
        s_sum0_0 = subgroupMatrixMultiplyAccumulate(held_q_32_0, streamed, s_sum0_0);
      }
      {
        let streamed = subgroupMatrixLoad<subgroup_matrix_right<f16, 16, 16>, col_major>(&k_staged, 296u, 18u);
        s_sum1_0 = subgroupMatrixMultiplyAccumulate(held_q_32_0, streamed, s_sum1_0);
      }
      {
        let streamed = subgroupMatrixLoad<subgroup_matrix_right<f16, 16, 16>, col_major>(&k_staged, 12u, 18u);
        s_sum0_0 = subgroupMatrixMultiplyAccumulate(held_q_48_0, streamed, s_sum0_0);
      }
      {
        let streamed = subgroupMatrixLoad<subgroup_matrix_right<f16, 16, 16>, col_major>(&k_staged, 300u, 18u);
        s_sum1_0 = subgroupMatrixMultiplyAccumulate(held_q_48_0, streamed, s_sum1_0);
      }
      subgroupMatrixStore<row_major>(&scratch[subgroup], 0u, s_sum0_0, 9u);
      subgroupMatrixStore<row_major>(&scratch[subgroup], 4u, s_sum1_0, 9u);
      workgroupBarrier();
      let s0 = scratch[subgroup][subgroup_lane / 2u * 9u + subgroup_lane % 2u * 4u + 0u];
      let s1 = scratch[subgroup][subgroup_lane / 2u * 9u + subgroup_lane % 2u * 4u + 1u];
      let s2 = scratch[subgroup][subgroup_lane / 2u * 9u + subgroup_lane % 2u * 4u + 2u];
      let s3 = scratch[subgroup][subgroup_lane / 2u * 9u + subgroup_lane % 2u * 4u + 3u];

      let j = j0 + tx * 16u;
      var p0 = vec4f();
      var p1 = vec4f();
      var p2 = vec4f();
      var p3 = vec4f();
      var rescale0 = 1.0;
      if (full_tile) {
        var scored0 = Score4();
        var scored1 = Score4();
        var scored2 = Score4();
        var scored3 = Score4();
        {
          let head = h;
          let query = row0 + ty * 1u + 0u;
          scored0 = score4(seq, head, query, j, s0, true);
        }
        {
          let head = h;
          let query = row0 + ty * 1u + 0u;
          scored1 = score4(seq, head, query, j + 4u, s1, true);
        }
        {
          let head = h;
          let query = row0 + ty * 1u + 0u;
          scored2 = score4(seq, head, query, j + 8u, s2, true);
        }
        {
          let head = h;
          let query = row0 + ty * 1u + 0u;
          scored3 = score4(seq, head, query, j + 12u, s3, true);
        }

        // m' = max(m, rowmax(S))
        var m_seen0 = max(max(max(max(m0, largest(scored0)), largest(scored1)), largest(scored2)), largest(scored3));
        m_seen0 = max(m_seen0, subgroupShuffleXor(m_seen0, 1u));
        var l_seen0 = l0;
        l_seen0 = l_seen0 + subgroupShuffleXor(l_seen0, 1u);
        let m_new0 = select(m0, m_seen0, l_seen0 == 0.0);
        deferred_from = select(deferred_from, min(deferred_from, j0), m_seen0 > m_new0 + 8.0);
        let has_weight_0 = deferred_from <= j0;
        let shift0 = bitcast<f32>(select(bitcast<u32>(m_new0), 0x7f800000u, has_weight_0));

        // P = e^(S − m')
        p0 = select(vec4f(), exp(scored0.value - shift0), scored0.visible);
        p1 = select(vec4f(), exp(scored1.value - shift0), scored1.visible);
        p2 = select(vec4f(), exp(scored2.value - shift0), scored2.visible);
        p3 = select(vec4f(), exp(scored3.value - shift0), scored3.visible);

        // l' = e^(m − m') · l + rowsum(P)
        rescale0 = 1.0;
        m0 = m_new0;
        l0 = l0 * rescale0 + sum4(p0) + sum4(p1) + sum4(p2) + sum4(p3);
      } else {
        var scored0 = Score4();
        var scored1 = Score4();
        var scored2 = Score4();
        var scored3 = Score4();
        {
          let head = h;
          let query = row0 + ty * 1u + 0u;
          scored0 = score4(seq, head, query, j, s0, false);
        }
        {
          let head = h;
          let query = row0 + ty * 1u + 0u;
          scored1 = score4(seq, head, query, j + 4u, s1, false);
        }
        {
          let head = h;
          let query = row0 + ty * 1u + 0u;
          scored2 = score4(seq, head, query, j + 8u, s2, false);
        }
        {
          let head = h;
          let query = row0 + ty * 1u + 0u;
          scored3 = score4(seq, head, query, j + 12u, s3, false);
        }

        // m' = max(m, rowmax(S))
        var m_seen0 = max(max(max(max(m0, largest(scored0)), largest(scored1)), largest(scored2)), largest(scored3));
        m_seen0 = max(m_seen0, subgroupShuffleXor(m_seen0, 1u));
        var l_seen0 = l0;
        l_seen0 = l_seen0 + subgroupShuffleXor(l_seen0, 1u);
        let m_new0 = select(m0, m_seen0, m_seen0 > m0 + 8.0);
        let has_weight_0 = j0 < min(again_until, deferred_from);
        let shift0 = bitcast<f32>(select(bitcast<u32>(m_new0), 0x7f800000u, has_weight_0));

        // P = e^(S − m')
        p0 = select(vec4f(), exp(scored0.value - shift0), scored0.visible);
        p1 = select(vec4f(), exp(scored1.value - shift0), scored1.visible);
        p2 = select(vec4f(), exp(scored2.value - shift0), scored2.visible);
        p3 = select(vec4f(), exp(scored3.value - shift0), scored3.visible);

        // l' = e^(m − m') · l + rowsum(P)
        rescale0 = select(exp(m0 - m_new0), 1.0, l_seen0 == 0.0);
        m0 = m_new0;
        l0 = l0 * rescale0 + sum4(p0) + sum4(p1) + sum4(p2) + sum4(p3);
      }

      // O' = e^(m − m') · O + P·V
      {
        weights[own_weights + 0u + subgroup_lane / 2u * 10u + subgroup_lane % 2u * 4u + 0u] = vec4<f16>(p0);
        weights[own_weights + 0u + subgroup_lane / 2u * 10u + subgroup_lane % 2u * 4u + 1u] = vec4<f16>(p1);
        weights[own_weights + 0u + subgroup_lane / 2u * 10u + subgroup_lane % 2u * 4u + 2u] = vec4<f16>(p2);
        weights[own_weights + 0u + subgroup_lane / 2u * 10u + subgroup_lane % 2u * 4u + 3u] = vec4<f16>(p3);
        factor = rescale0;
        if (factor != 1.0) {
          own_flags |= 2u;
        }
        k_staged[(lane / 16u + 0u) * 18u + lane % 16u] = k_fetched0;
        k_staged[(lane / 16u + 8u) * 18u + lane % 16u] = k_fetched1;
        k_staged[(lane / 16u + 16u) * 18u + lane % 16u] = k_fetched2;
        k_staged[(lane / 16u + 24u) * 18u + lane % 16u] = k_fetched3;
        if (!full_tile) {
          if ((has_non_finite(vec4f(v_fetched0))) || (has_non_finite(vec4f(v_fetched1))) || (has_non_finite(vec4f(v_fetched2))) || (has_non_finite(vec4f(v_fetched3)))) {
            own_flags |= 1u;
          }
        }
        v_staged[(lane / 16u + 0u) * 18u + lane % 16u] = v_fetched0;
        v_staged[(lane / 16u + 8u) * 18u + lane % 16u] = v_fetched1;
        v_staged[(lane / 16u + 16u) * 18u + lane % 16u] = v_fetched2;
        v_staged[(lane / 16u + 24u) * 18u + lane % 16u] = v_fetched3;
        {
          let v_end = max(seq.length_kv, 1u) - 1u;
          v_fetched0 = v_load4_f16(v_row(seq, h_v, min(j0 + 32u + (lane / 16u + 0u), v_end)), 4u * (lane % 16u));
          v_fetched1 = v_load4_f16(v_row(seq, h_v, min(j0 + 32u + (lane / 16u + 8u), v_end)), 4u * (lane % 16u));
          v_fetched2 = v_load4_f16(v_row(seq, h_v, min(j0 + 32u + (lane / 16u + 16u), v_end)), 4u * (lane % 16u));
          v_fetched3 = v_load4_f16(v_row(seq, h_v, min(j0 + 32u + (lane / 16u + 24u), v_end)), 4u * (lane % 16u));
        }
        {
          let k_end = max(seq.length_kv, 1u) - 1u;
          k_fetched0 = k_load4_f16(k_row(seq, h_k, min(j0 + 64u + (lane / 16u + 0u), k_end)), 4u * (lane % 16u));
          k_fetched1 = k_load4_f16(k_row(seq, h_k, min(j0 + 64u + (lane / 16u + 8u), k_end)), 4u * (lane % 16u));
          k_fetched2 = k_load4_f16(k_row(seq, h_k, min(j0 + 64u + (lane / 16u + 16u), k_end)), 4u * (lane % 16u));
          k_fetched3 = k_load4_f16(k_row(seq, h_k, min(j0 + 64u + (lane / 16u + 24u), k_end)), 4u * (lane % 16u));
        }
        if (full_tile) {
          workgroupBarrier();
        } else {
          {
            let combined = subgroupOr(own_flags);
            if (subgroup_lane == 0u) {
              shared_flags[subgroup] = combined;
            }
            let all = workgroupUniformLoad(&shared_flags);
            flags = all[0] | all[1] | all[2] | all[3];
          }
          if (flags != 0u) {
            break;
          }
        }
        {
          let weights0 = subgroupMatrixLoad<subgroup_matrix_left<f16, 16, 16>, row_major>(&weights, own_weights + 0u + 0u, 10u);
          {
            let streamed = subgroupMatrixLoad<subgroup_matrix_right<f16, 16, 16>, row_major>(&v_staged, 0u, 18u);
            acc_0_0 = subgroupMatrixMultiplyAccumulate(weights0, streamed, acc_0_0);
          }
          {
            let streamed = subgroupMatrixLoad<subgroup_matrix_right<f16, 16, 16>, row_major>(&v_staged, 4u, 18u);
            acc_16_0 = subgroupMatrixMultiplyAccumulate(weights0, streamed, acc_16_0);
          }
          {
            let streamed = subgroupMatrixLoad<subgroup_matrix_right<f16, 16, 16>, row_major>(&v_staged, 8u, 18u);
            acc_32_0 = subgroupMatrixMultiplyAccumulate(weights0, streamed, acc_32_0);
          }
          {
            let streamed = subgroupMatrixLoad<subgroup_matrix_right<f16, 16, 16>, row_major>(&v_staged, 12u, 18u);
            acc_48_0 = subgroupMatrixMultiplyAccumulate(weights0, streamed, acc_48_0);
          }
        }
        {
          let weights0 = subgroupMatrixLoad<subgroup_matrix_left<f16, 16, 16>, row_major>(&weights, own_weights + 0u + 4u, 10u);
          {
            let streamed = subgroupMatrixLoad<subgroup_matrix_right<f16, 16, 16>, row_major>(&v_staged, 288u, 18u);
            acc_0_0 = subgroupMatrixMultiplyAccumulate(weights0, streamed, acc_0_0);
          }
          {
            let streamed = subgroupMatrixLoad<subgroup_matrix_right<f16, 16, 16>, row_major>(&v_staged, 292u, 18u);
            acc_16_0 = subgroupMatrixMultiplyAccumulate(weights0, streamed, acc_16_0);
          }
          {
            let streamed = subgroupMatrixLoad<subgroup_matrix_right<f16, 16, 16>, row_major>(&v_staged, 296u, 18u);
            acc_32_0 = subgroupMatrixMultiplyAccumulate(weights0, streamed, acc_32_0);
          }
          {
            let streamed = subgroupMatrixLoad<subgroup_matrix_right<f16, 16, 16>, row_major>(&v_staged, 300u, 18u);
            acc_48_0 = subgroupMatrixMultiplyAccumulate(weights0, streamed, acc_48_0);
          }
        }
      }
    }
    if (flags != 0u) {
      subgroupMatrixStore<row_major>(&scratch[subgroup], 0u, acc_0_0, 9u);
      workgroupBarrier();
      {
        scratch[subgroup][subgroup_lane / 2u * 9u + subgroup_lane % 2u * 2u + 0u] *= factor;
        scratch[subgroup][subgroup_lane / 2u * 9u + subgroup_lane % 2u * 2u + 1u] *= factor;
        if ((flags & 1u) != 0u) {
          for (var k = 0u; k < 32u; k++) {
            let w = f32(weights[own_weights + 0u + subgroup_lane / 2u * 10u + k / 4u][k % 4u]);
            let x = k * 18u + 0u + subgroup_lane % 2u * 2u;
            scratch[subgroup][subgroup_lane / 2u * 9u + subgroup_lane % 2u * 2u + 0u] += weighted(w, vec4f(v_staged[x + 0u]));
            scratch[subgroup][subgroup_lane / 2u * 9u + subgroup_lane % 2u * 2u + 1u] += weighted(w, vec4f(v_staged[x + 1u]));
          }
        }
      }
      workgroupBarrier();
      acc_0_0 = subgroupMatrixLoad<subgroup_matrix_result<f32, 16, 16>, row_major>(&scratch[subgroup], 0u, 9u);
      workgroupBarrier();
      subgroupMatrixStore<row_major>(&scratch[subgroup], 0u, acc_16_0, 9u);
      workgroupBarrier();
      {
        scratch[subgroup][subgroup_lane / 2u * 9u + subgroup_lane % 2u * 2u + 0u] *= factor;
        scratch[subgroup][subgroup_lane / 2u * 9u + subgroup_lane % 2u * 2u + 1u] *= factor;
        if ((flags & 1u) != 0u) {
          for (var k = 0u; k < 32u; k++) {
            let w = f32(weights[own_weights + 0u + subgroup_lane / 2u * 10u + k / 4u][k % 4u]);
            let x = k * 18u + 4u + subgroup_lane % 2u * 2u;
            scratch[subgroup][subgroup_lane / 2u * 9u + subgroup_lane % 2u * 2u + 0u] += weighted(w, vec4f(v_staged[x + 0u]));
            scratch[subgroup][subgroup_lane / 2u * 9u + subgroup_lane % 2u * 2u + 1u] += weighted(w, vec4f(v_staged[x + 1u]));
          }
        }
      }
      workgroupBarrier();
      acc_16_0 = subgroupMatrixLoad<subgroup_matrix_result<f32, 16, 16>, row_major>(&scratch[subgroup], 0u, 9u);
      workgroupBarrier();
      subgroupMatrixStore<row_major>(&scratch[subgroup], 0u, acc_32_0, 9u);
      workgroupBarrier();
      {
        scratch[subgroup][subgroup_lane / 2u * 9u + subgroup_lane % 2u * 2u + 0u] *= factor;
        scratch[subgroup][subgroup_lane / 2u * 9u + subgroup_lane % 2u * 2u + 1u] *= factor;
        if ((flags & 1u) != 0u) {
          for (var k = 0u; k < 32u; k++) {
            let w = f32(weights[own_weights + 0u + subgroup_lane / 2u * 10u + k / 4u][k % 4u]);
            let x = k * 18u + 8u + subgroup_lane % 2u * 2u;
            scratch[subgroup][subgroup_lane / 2u * 9u + subgroup_lane % 2u * 2u + 0u] += weighted(w, vec4f(v_staged[x + 0u]));
            scratch[subgroup][subgroup_lane / 2u * 9u + subgroup_lane % 2u * 2u + 1u] += weighted(w, vec4f(v_staged[x + 1u]));
          }
        }
      }
      workgroupBarrier();
      acc_32_0 = subgroupMatrixLoad<subgroup_matrix_result<f32, 16, 16>, row_major>(&scratch[subgroup], 0u, 9u);
      workgroupBarrier();
      subgroupMatrixStore<row_major>(&scratch[subgroup], 0u, acc_48_0, 9u);
      workgroupBarrier();
      {
        scratch[subgroup][subgroup_lane / 2u * 9u + subgroup_lane % 2u * 2u + 0u] *= factor;
        scratch[subgroup][subgroup_lane / 2u * 9u + subgroup_lane % 2u * 2u + 1u] *= factor;
        if ((flags & 1u) != 0u) {
          for (var k = 0u; k < 32u; k++) {
            let w = f32(weights[own_weights + 0u + subgroup_lane / 2u * 10u + k / 4u][k % 4u]);
            let x = k * 18u + 12u + subgroup_lane % 2u * 2u;
            scratch[subgroup][subgroup_lane / 2u * 9u + subgroup_lane % 2u * 2u + 0u] += weighted(w, vec4f(v_staged[x + 0u]));
            scratch[subgroup][subgroup_lane / 2u * 9u + subgroup_lane % 2u * 2u + 1u] += weighted(w, vec4f(v_staged[x + 1u]));
          }
        }
      }
      workgroupBarrier();
      acc_48_0 = subgroupMatrixLoad<subgroup_matrix_result<f32, 16, 16>, row_major>(&scratch[subgroup], 0u, 9u);
      workgroupBarrier();
      if ((flags & 1u) == 0u) {
        {
          let weights0 = subgroupMatrixLoad<subgroup_matrix_left<f16, 16, 16>, row_major>(&weights, own_weights + 0u + 0u, 10u);
          {
            let streamed = subgroupMatrixLoad<subgroup_matrix_right<f16, 16, 16>, row_major>(&v_staged, 0u, 18u);
            acc_0_0 = subgroupMatrixMultiplyAccumulate(weights0, streamed, acc_0_0);
          }
          {
            let streamed = subgroupMatrixLoad<subgroup_matrix_right<f16, 16, 16>, row_major>(&v_staged, 4u, 18u);
            acc_16_0 = subgroupMatrixMultiplyAccumulate(weights0, streamed, acc_16_0);
          }
          {
            let streamed = subgroupMatrixLoad<subgroup_matrix_right<f16, 16, 16>, row_major>(&v_staged, 8u, 18u);
            acc_32_0 = subgroupMatrixMultiplyAccumulate(weights0, streamed, acc_32_0);
          }
          {
            let streamed = subgroupMatrixLoad<subgroup_matrix_right<f16, 16, 16>, row_major>(&v_staged, 12u, 18u);
            acc_48_0 = subgroupMatrixMultiplyAccumulate(weights0, streamed, acc_48_0);
          }
        }
        {
          let weights0 = subgroupMatrixLoad<subgroup_matrix_left<f16, 16, 16>, row_major>(&weights, own_weights + 0u + 4u, 10u);
          {
            let streamed = subgroupMatrixLoad<subgroup_matrix_right<f16, 16, 16>, row_major>(&v_staged, 288u, 18u);
            acc_0_0 = subgroupMatrixMultiplyAccumulate(weights0, streamed, acc_0_0);
          }
          {
            let streamed = subgroupMatrixLoad<subgroup_matrix_right<f16, 16, 16>, row_major>(&v_staged, 292u, 18u);
            acc_16_0 = subgroupMatrixMultiplyAccumulate(weights0, streamed, acc_16_0);
          }
          {
            let streamed = subgroupMatrixLoad<subgroup_matrix_right<f16, 16, 16>, row_major>(&v_staged, 296u, 18u);
            acc_32_0 = subgroupMatrixMultiplyAccumulate(weights0, streamed, acc_32_0);
          }
          {
            let streamed = subgroupMatrixLoad<subgroup_matrix_right<f16, 16, 16>, row_major>(&v_staged, 300u, 18u);
            acc_48_0 = subgroupMatrixMultiplyAccumulate(weights0, streamed, acc_48_0);
          }
        }
      }
      j0 += 32u;
    }
    if (is_full) {
      {
        let combined = subgroupOr(select(1u, 0u, deferred_from == 0xffffffffu));
        if (subgroup_lane == 0u) {
          shared_flags[subgroup] = combined;
        }
        let all = workgroupUniformLoad(&shared_flags);
        flags = all[0] | all[1] | all[2] | all[3];
      }
      if (flags != 0u) {
        again_until = j0;
        j0 = run;
      }
    }
  }

  // l of all keys
  var sum0 = l0;
  sum0 = sum0 + subgroupShuffleXor(sum0, 1u);
  if (has_non_finite(vec4f(sum0))) {
    m0 = mark_non_finite(vec4f(sum0)).x;
  }
  // o = O / l, lse = m + ln l
  var acc_rows = array<vec4f, 8>();
  workgroupBarrier();
  subgroupMatrixStore<row_major>(&scratch[subgroup], 0u, acc_0_0, 9u);
  workgroupBarrier();
  acc_rows[0] = scratch[subgroup][subgroup_lane / 2u * 9u + subgroup_lane % 2u * 2u + 0u];
  acc_rows[1] = scratch[subgroup][subgroup_lane / 2u * 9u + subgroup_lane % 2u * 2u + 1u];
  workgroupBarrier();
  subgroupMatrixStore<row_major>(&scratch[subgroup], 0u, acc_16_0, 9u);
  workgroupBarrier();
  acc_rows[2] = scratch[subgroup][subgroup_lane / 2u * 9u + subgroup_lane % 2u * 2u + 0u];
  acc_rows[3] = scratch[subgroup][subgroup_lane / 2u * 9u + subgroup_lane % 2u * 2u + 1u];
  workgroupBarrier();
  subgroupMatrixStore<row_major>(&scratch[subgroup], 0u, acc_32_0, 9u);
  workgroupBarrier();
  acc_rows[4] = scratch[subgroup][subgroup_lane / 2u * 9u + subgroup_lane % 2u * 2u + 0u];
  acc_rows[5] = scratch[subgroup][subgroup_lane / 2u * 9u + subgroup_lane % 2u * 2u + 1u];
  workgroupBarrier();
  subgroupMatrixStore<row_major>(&scratch[subgroup], 0u, acc_48_0, 9u);
  workgroupBarrier();
  acc_rows[6] = scratch[subgroup][subgroup_lane / 2u * 9u + subgroup_lane % 2u * 2u + 0u];
  acc_rows[7] = scratch[subgroup][subgroup_lane / 2u * 9u + subgroup_lane % 2u * 2u + 1u];
  let m_rows = array(m0);
  let l_rows = array(sum0);
  for (var r = 0u; r < 1u; r++) {
    let head = h;
    let query = row0 + ty * 1u + r;
    let m = m_rows[r];
    let l = l_rows[r];
    let scale = output_scale(m, l, 1.0);
    if (query < P.Sq) {
      let row = o_row(seq, head, query);
      for (var n = 0u; n < 8u; n++) {
        let vector = n / 2u * 4u + n % 2u + subgroup_lane % 2u * 2u;
        if (vector < (P.Dv + 3u) / 4u) {
          o_store4(row, 4u * vector, acc_rows[r * 8u + n] * scale);
        }
      }
    }
    if (tx == 0u && query < row_count(seq)) {
      let at = row_at(seq, head, query);
      lse_write(at, m, l);
    }
  }
}

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
  bias_base: u32,
  bias_sb: u32,
  bias_sh: u32,
  bias_si: u32,
  bias_sj: u32,
  mask_base: u32,
  mask_sb: u32,
  mask_sh: u32,
  mask_si: u32,
  mask_sj: u32,
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

@group(0) @binding(4) var<storage, read> bias: array<f32>;

@group(0) @binding(5) var<storage, read> mask: array<u32>;

@group(0) @binding(6) var<storage, read_write> o: array<vec2u>;

@group(0) @binding(7) var<storage, read_write> lse_rows: array<u32>;

fn read_bias(at: u32) -> f32 {
  return bias[at];
}

fn read_mask(at: u32) -> u32 {
  return mask[at];
}

fn has_non_finite(x: vec4f) -> bool {
  return any((bitcast<vec4u>(x) & vec4u(0x7f800000u)) == vec4u(0x7f800000u));
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

fn is_negative_infinity(x: f32) -> bool {
  return bitcast<u32>(x) == 0xff800000u;
}

fn mark_non_finite(x: vec4f) -> vec4f {
  let is_high = (bitcast<vec4i>(x) > vec4i(0x7f7fffff)) | (bitcast<vec4u>(x) > vec4u(0xff800000u));
  return select(x, vec4f(0x1.fffffep+127f), is_high);
}

var<workgroup> staged: array<array<vec4f, 9>, 64>;
var<workgroup> weights: array<array<vec4f, 9>, 32>;
var<workgroup> non_finite: atomic<u32>;

fn weighted(weight: f32, x: vec4f) -> vec4f {
  return select(weight * x, vec4f(), weight == 0.0);
}

var<workgroup> row_partial: array<vec4f, 64>;

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

fn k_row(seq: Sequence, h: u32, s: u32) -> u32 {
  return P.k_base + h * P.k_sh + seq.b * P.k_sb + s * P.k_ss;
}

fn k_load4(row: u32, d: u32) -> vec4f {
  return vec4f(unpack2x16float(k[(row + d) >> 2u].x), unpack2x16float(k[(row + d) >> 2u].y));
}

fn v_row(seq: Sequence, h: u32, s: u32) -> u32 {
  return P.v_base + h * P.v_sh + seq.b * P.v_sb + s * P.v_ss;
}

fn v_load4(row: u32, d: u32) -> vec4f {
  return vec4f(unpack2x16float(v[(row + d) >> 2u].x), unpack2x16float(v[(row + d) >> 2u].y));
}

fn row_at(seq: Sequence, h: u32, i: u32) -> u32 {
  return (seq.b * P.Hq + h) * P.row_stride_h + i;
}

fn row_count(seq: Sequence) -> u32 {
  return P.Sq;
}

fn bias_at(seq: Sequence, h: u32, i: u32, j: u32) -> u32 {
  return P.bias_base + seq.b * P.bias_sb + h * P.bias_sh + i * P.bias_si + j * P.bias_sj;
}

fn bias_value(at: u32) -> f32 {
  return read_bias(at);
}

fn mask_at(seq: Sequence, h: u32, i: u32, j: u32) -> u32 {
  return P.mask_base + seq.b * P.mask_sb + h * P.mask_sh + i * P.mask_si + j * P.mask_sj;
}

fn mask_value(at: u32) -> bool {
  return ((read_mask(at >> 2u) >> ((at & 3u) * 8u)) & 0xffu) != 0u;
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
  let bias_first = bias_at(seq, h, i, j);
  for (var c = 0u; c < 4u; c++) {
    let bias_here = bias_value(bias_first + c * P.bias_sj);
    if (is_negative_infinity(bias_here)) {
      visible[c] = false;
    } else {
      s[c] += bias_here;
    }
  }
  let mask_first = mask_at(seq, h, i, j);
  for (var c = 0u; c < 4u; c++) {
    visible[c] = visible[c] && mask_value(mask_first + c * P.mask_sj);
  }
  return Score4(mark_non_finite(s), slope, visible);
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

@compute @workgroup_size(64)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) workgroups: vec3u,
  @builtin(local_invocation_index) lane: u32,
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
  let tx = lane % 8u;
  let ty = lane / 8u;

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
  var acc1_0 = vec4f();
  var acc1_1 = vec4f();
  var acc2_0 = vec4f();
  var acc2_1 = vec4f();
  var acc3_0 = vec4f();
  var acc3_1 = vec4f();

  let keys = key_range(seq, i0, i1);
  for (var j0 = keys.x / 32u * 32u; j0 < keys.y; j0 += 32u) {
    // S = Q·Kᵀ
    let full_tile = tile_inside(seq, i0, i1, j0, j0 + 32u);
    // Stage and multiply chunks of channels.
    let channels = P.Dqk;
    var s0 = vec4f();
    var s1 = vec4f();
    var s2 = vec4f();
    var s3 = vec4f();
    for (var d0 = 0u; d0 < channels; d0 += 32u) {
      workgroupBarrier();
      for (var n = lane; n < 256u; n += 64u) {
        let r = n / 8u;
        let s = i0 + r;
        let d = d0 + 4u * (n % 8u);
        var x = vec4f();
        if (s < seq.length_q && d < channels) {
          x = q_load4(q_row(seq, h, s), d);
        }
        staged[0u + n % 32u][n / 32u] = x;
      }
      for (var n = lane; n < 256u; n += 64u) {
        let r = n / 8u;
        let s = j0 + r;
        let d = d0 + 4u * (n % 8u);
        var x = vec4f();
        if (s < seq.length_kv && d < channels) {
          x = k_load4(k_row(seq, h_k, s), d);
        }
        staged[32u + n % 32u][n / 32u] = x;
      }
      workgroupBarrier();
      let used = min(8u, (channels - d0 + 3u) / 4u);
      for (var d = 0u; d < used; d++) {
        let a0 = staged[0u + d][ty];
        let a1 = staged[8u + d][ty];
        let a2 = staged[16u + d][ty];
        let a3 = staged[24u + d][ty];
        let b0 = staged[32u + d][tx];
        let b1 = staged[40u + d][tx];
        let b2 = staged[48u + d][tx];
        let b3 = staged[56u + d][tx];
        s0 += vec4f(dot(a0, b0), dot(a0, b1), dot(a0, b2), dot(a0, b3));
        s1 += vec4f(dot(a1, b0), dot(a1, b1), dot(a1, b2), dot(a1, b3));
        s2 += vec4f(dot(a2, b0), dot(a2, b1), dot(a2, b2), dot(a2, b3));
        s3 += vec4f(dot(a3, b0), dot(a3, b1), dot(a3, b2), dot(a3, b3));
      }
    }

    let j = j0 + tx * 4u;
    var p0 = vec4f();
    var p1 = vec4f();
    var p2 = vec4f();
    var p3 = vec4f();
    var rescale0 = 1.0;
    var rescale1 = 1.0;
    var rescale2 = 1.0;
    var rescale3 = 1.0;
    var s_vectors = array(s0, s1, s2, s3);
    var scored_vectors = array<Score4, 4>();
    for (var b = 0u; b < 4u; b++) {
      let head = h;
      let query = row0 + ty * 4u + b;
      scored_vectors[b] = score4(seq, head, query, j, s_vectors[b], full_tile);
    }

    // m' = max(m, rowmax(S))
    row_partial[0u + ty * 8u + tx] = vec4f(max(m0, largest(scored_vectors[0])), max(m1, largest(scored_vectors[1])), max(m2, largest(scored_vectors[2])), max(m3, largest(scored_vectors[3])));
    workgroupBarrier();
    var m_new = vec4f(-0x1.fffffep+127f);
    for (var x = ty * 8u; x < (ty + 1u) * 8u; x++) {
      m_new = max(m_new, row_partial[0u + x]);
    }
    let m_new0 = m_new[0];
    let m_new1 = m_new[1];
    let m_new2 = m_new[2];
    let m_new3 = m_new[3];

    // P = e^(S − m')
    p0 = select(vec4f(), exp(scored_vectors[0].value - m_new0), scored_vectors[0].visible);
    p1 = select(vec4f(), exp(scored_vectors[1].value - m_new1), scored_vectors[1].visible);
    p2 = select(vec4f(), exp(scored_vectors[2].value - m_new2), scored_vectors[2].visible);
    p3 = select(vec4f(), exp(scored_vectors[3].value - m_new3), scored_vectors[3].visible);

    // l' = e^(m − m') · l + rowsum(P)
    rescale0 = exp(m0 - m_new0);
    m0 = m_new0;
    l0 = l0 * rescale0 + sum4(p0);
    rescale1 = exp(m1 - m_new1);
    m1 = m_new1;
    l1 = l1 * rescale1 + sum4(p1);
    rescale2 = exp(m2 - m_new2);
    m2 = m_new2;
    l2 = l2 * rescale2 + sum4(p2);
    rescale3 = exp(m3 - m_new3);
    m3 = m_new3;
    l3 = l3 * rescale3 + sum4(p3);

    // O' = e^(m − m') · O + P·V
    acc0_0 *= rescale0;
    acc0_1 *= rescale0;
    acc1_0 *= rescale1;
    acc1_1 *= rescale1;
    acc2_0 *= rescale2;
    acc2_1 *= rescale2;
    acc3_0 *= rescale3;
    acc3_1 *= rescale3;
    weights[tx * 4u + 0u][ty] = vec4f(p0[0], p1[0], p2[0], p3[0]);
    weights[tx * 4u + 1u][ty] = vec4f(p0[1], p1[1], p2[1], p3[1]);
    weights[tx * 4u + 2u][ty] = vec4f(p0[2], p1[2], p2[2], p3[2]);
    weights[tx * 4u + 3u][ty] = vec4f(p0[3], p1[3], p2[3], p3[3]);
    for (var k0 = 0u; k0 < 32u; k0 += 32u) {
      workgroupBarrier();
      for (var n = lane; n < 512u; n += 64u) {
        let s = j0 + k0 + n / 16u;
        let d = 4u * (n % 16u);
        var x = vec4f();
        if (s < seq.length_kv && d < P.Dv) {
          x = v_load4(v_row(seq, h_v, s), d);
        }
        if (true && has_non_finite(x)) {
          atomicStore(&non_finite, 1u);
        }
        staged[n / 8u][n % 8u] = x;
      }
      workgroupBarrier();
      if (atomicLoad(&non_finite) == 0u) {
        for (var row = k0; row < k0 + 32u; row++) {
          let k = row - k0;
          let w0 = weights[k0 + k][ty];
          let x0 = staged[k * 2u + 0u][tx];
          let x1 = staged[k * 2u + 1u][tx];
          acc0_0 += w0[0] * x0;
          acc0_1 += w0[0] * x1;
          acc1_0 += w0[1] * x0;
          acc1_1 += w0[1] * x1;
          acc2_0 += w0[2] * x0;
          acc2_1 += w0[2] * x1;
          acc3_0 += w0[3] * x0;
          acc3_1 += w0[3] * x1;
        }
      } else {
        for (var row = k0; row < k0 + 32u; row++) {
          let k = row - k0;
          let w0 = weights[k0 + k][ty];
          let x0 = staged[k * 2u + 0u][tx];
          let x1 = staged[k * 2u + 1u][tx];
          acc0_0 += weighted(w0[0], x0);
          acc0_1 += weighted(w0[0], x1);
          acc1_0 += weighted(w0[1], x0);
          acc1_1 += weighted(w0[1], x1);
          acc2_0 += weighted(w0[2], x0);
          acc2_1 += weighted(w0[2], x1);
          acc3_0 += weighted(w0[3], x0);
          acc3_1 += weighted(w0[3], x1);
        }
      }
    }
  }

  // l of all keys
  workgroupBarrier();
  row_partial[0u + ty * 8u + tx] = vec4f(l0, l1, l2, l3);
  workgroupBarrier();
  var sum = vec4f(0.0);
  for (var x = ty * 8u; x < (ty + 1u) * 8u; x++) {
    sum = sum + row_partial[0u + x];
  }
  let sum0 = sum[0];
  let sum1 = sum[1];
  let sum2 = sum[2];
  let sum3 = sum[3];
  // o = O / l, lse = m + ln l
  let acc_rows = array<vec4f, 8>(acc0_0, acc0_1, acc1_0, acc1_1, acc2_0, acc2_1, acc3_0, acc3_1);
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
      for (var n = 0u; n < 2u; n++) {
        let vector = n * 8u + tx;
        if (vector < (P.Dv + 3u) / 4u) {
          o_store4(row, 4u * vector, acc_rows[r * 2u + n] * scale);
        }
      }
    }
    if (tx == 0u && query < row_count(seq)) {
      let at = row_at(seq, head, query);
      lse_write(at, m, l);
    }
  }
}

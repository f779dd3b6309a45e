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
  dropout_scale: f32,
  seed_low: u32,
  seed_high: u32,
  offset_low: u32,
  offset_high: u32,
  dropout_head_low: u32,
  dropout_head_high: u32,
  dropout_threshold: u32,
  dropout_none: u32,
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

struct DropoutParams {
  seed: vec2u,
  offset: vec2u,
  head_stride: vec2u,
  row_stride: u32,
  threshold: u32,
  keep_none: u32,
  scale: f32,
}

struct DropoutRow {
  base: vec2u,
  i: u32,
}

fn dropout_keep(p: DropoutParams, bh: u32, i: u32, j: u32) -> bool {
  return dropout_keep_at(p, dropout_row(p, bh, i), j);
}

fn u32_mulhi(a: u32, b: u32) -> u32 {
  let a_low = a & 0xffffu;
  let a_high = a >> 16u;
  let b_low = b & 0xffffu;
  let b_high = b >> 16u;
  let cross = a_high * b_low + ((a_low * b_low) >> 16u);
  let carry = ((cross & 0xffffu) + a_low * b_high) >> 16u;
  return a_high * b_high + (cross >> 16u) + carry;
}

fn u64_add(a: vec2u, b: vec2u) -> vec2u {
  let lo = a.x + b.x;
  return vec2u(lo, a.y + b.y + select(0u, 1u, lo < a.x));
}

fn u64_add_u32(a: vec2u, b: u32) -> vec2u {
  let lo = a.x + b;
  return vec2u(lo, a.y + select(0u, 1u, lo < b));
}

fn u32_mul_wide(a: u32, b: u32) -> vec2u {
  return vec2u(a * b, u32_mulhi(a, b));
}

fn u64_mul_u32(a: vec2u, b: u32) -> vec2u {
  return vec2u(a.x * b, u32_mulhi(a.x, b) + a.y * b);
}

fn u64_quarter(a: vec2u) -> vec2u {
  return vec2u((a.x >> 2u) | (a.y << 30u), a.y >> 2u);
}

fn philox4x32_10(counter: vec4u, key: vec2u) -> vec4u {
  var c = counter;
  var k = key;
  for (var round = 0u; round < 10u; round++) {
    let high0 = u32_mulhi(c.x, 0xd2511f53u);
    let high1 = u32_mulhi(c.z, 0xcd9e8d57u);
    c = vec4u(high1 ^ c.y ^ k.x, c.z * 0xcd9e8d57u, high0 ^ c.w ^ k.y, c.x * 0xd2511f53u);
    k += vec2u(0x9e3779b9u, 0xbb67ae85u);
  }
  return c;
}

fn philox_word(block: vec4u, lane: u32) -> u32 {
  let even = select(block.x, block.z, lane >= 2u);
  let odd = select(block.y, block.w, lane >= 2u);
  return select(even, odd, (lane & 1u) == 1u);
}

fn philox_stitch(first: vec4u, second: vec4u, lane: u32) -> vec4u {
  let by_two = select(first, vec4u(first.zw, second.xy), lane >= 2u);
  let after = select(second.x, second.z, lane >= 2u);
  return select(by_two, vec4u(by_two.yzw, after), (lane & 1u) == 1u);
}

fn dropout_keep_at(p: DropoutParams, row: DropoutRow, j: u32) -> bool {
  let place = u64_add_u32(row.base, j);
  let word = philox_word(dropout_block(p, place), place.x & 3u);
  return word >= p.threshold && p.keep_none == 0u;
}

fn dropout_keep4_at(p: DropoutParams, row: DropoutRow, j: u32) -> vec4<bool> {
  let place = u64_add_u32(row.base, j);
  let lane = place.x & 3u;
  var words = dropout_block(p, place);
  if (lane != 0u) {
    words = philox_stitch(words, dropout_block(p, u64_add_u32(place, 4u)), lane);
  }
  return (words >= vec4u(p.threshold)) & vec4<bool>(p.keep_none == 0u);
}

fn dropout_row(p: DropoutParams, bh: u32, i: u32) -> DropoutRow {
  let index = u64_add(u64_mul_u32(p.head_stride, bh), u32_mul_wide(i, p.row_stride));
  return DropoutRow(u64_add(p.offset, index), i);
}

fn dropout_block(p: DropoutParams, position: vec2u) -> vec4u {
  return philox4x32_10(vec4u(u64_quarter(position), 0u, 0u), p.seed);
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

fn dropout_kept4(seq: Sequence, h: u32, i: u32, j: u32) -> vec4<bool> {
  let params = DropoutParams(
    vec2u(P.seed_low, P.seed_high),
    vec2u(P.offset_low, P.offset_high),
    vec2u(P.dropout_head_low, P.dropout_head_high),
    P.Skv,
    P.dropout_threshold,
    P.dropout_none,
    P.dropout_scale,
  );
  let row = dropout_row(params, seq.b * P.Hq + h, i);
  return dropout_keep4_at(params, row, j);
}

fn dropout4(seq: Sequence, h: u32, i: u32, j: u32) -> vec4f {
  return select(vec4f(), vec4f(P.dropout_scale), dropout_kept4(seq, h, i, j));
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
    var p_vectors = array(p0, p1, p2, p3);
    var weight_vectors = array<vec4f, 4>();
    for (var b = 0u; b < 4u; b++) {
      let head = h;
      let query = row0 + ty * 4u + b;
      weight_vectors[b] = p_vectors[b] * dropout4(seq, head, query, j);
    }

    // O' = e^(m − m') · O + P·V
    acc0_0 *= rescale0;
    acc0_1 *= rescale0;
    acc1_0 *= rescale1;
    acc1_1 *= rescale1;
    acc2_0 *= rescale2;
    acc2_1 *= rescale2;
    acc3_0 *= rescale3;
    acc3_1 *= rescale3;
    weights[tx * 4u + 0u][ty] = vec4f(weight_vectors[0][0], weight_vectors[1][0], weight_vectors[2][0], weight_vectors[3][0]);
    weights[tx * 4u + 1u][ty] = vec4f(weight_vectors[0][1], weight_vectors[1][1], weight_vectors[2][1], weight_vectors[3][1]);
    weights[tx * 4u + 2u][ty] = vec4f(weight_vectors[0][2], weight_vectors[1][2], weight_vectors[2][2], weight_vectors[3][2]);
    weights[tx * 4u + 3u][ty] = vec4f(weight_vectors[0][3], weight_vectors[1][3], weight_vectors[2][3], weight_vectors[3][3]);
    for (var k0 = 0u; k0 < 32u; k0 += 32u) {
      workgroupBarrier();
      for (var n = lane; n < 512u; n += 64u) {
        let s = j0 + k0 + n / 16u;
        let d = 4u * (n % 16u);
        var x = vec4f();
        if (s < seq.length_kv && d < P.Dv) {
          x = v_load4(v_row(seq, h_v, s), d);
        }
        if (!full_tile && has_non_finite(x)) {
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

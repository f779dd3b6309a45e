struct Params {
  first_group: u32,
  end_group: u32,
  tiles: u32,
  group_k: u32,
  group_v: u32,
  fp8_base: u32,
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
  o_base: u32,
  o_sb: u32,
  o_sh: u32,
  o_ss: u32,
  o_sd: u32,
  o_D: u32,
  Hq: u32,
  row_stride_h: u32,
  lse_base: u32,
  scale: f32,
}

@group(0) @binding(0) var<uniform> P: Params;

@group(0) @binding(1) var<storage, read> fp8: array<f32>;

@group(0) @binding(2) var<storage, read> q: array<u32>;

@group(0) @binding(3) var<storage, read> k: array<u32>;

@group(0) @binding(4) var<storage, read> v: array<u32>;

@group(0) @binding(5) var<storage, read_write> o: array<u32>;

@group(0) @binding(6) var<storage, read> lse: array<u32>;

fn read_fp8(at: u32) -> f32 {
  return fp8[at];
}

fn has_non_finite(x: vec4f) -> bool {
  return any((bitcast<vec4u>(x) & vec4u(0x7f800000u)) == vec4u(0x7f800000u));
}

fn split_bytes(word: u32) -> vec4u {
  return (vec4u(word) >> vec4u(0u, 8u, 16u, 24u)) & vec4u(0xffu);
}

fn f8e4m3_bits(x: vec4f) -> vec4u {
  let bits = bitcast<vec4u>(x);
  let a = bits & vec4u(0x7fffffffu);
  let normal = (a + ((a >> vec4u(20u)) & vec4u(1u)) - vec4u(1006108673u)) >> vec4u(20u);
  let drop = min(vec4u(141u) - min(a >> vec4u(23u), vec4u(120u)), vec4u(31u));
  let mantissa = (a & vec4u(0x7fffffu)) | vec4u(0x800000u);
  let kept = mantissa >> drop;
  let rest = mantissa & ((vec4u(1u) << drop) - vec4u(1u));
  let half = vec4u(1u) << (drop - vec4u(1u));
  let up = (rest > half) | ((rest == half) & ((kept & vec4u(1u)) == vec4u(1u)));
  var code = select(normal, vec4u(126u), normal > vec4u(126u));
  code = select(code, kept + select(vec4u(), vec4u(1u), up), a < vec4u(1015021568u));
  code = select(code, vec4u(127u), a > vec4u(0x7f800000u));
  return code | ((bits >> vec4u(24u)) & vec4u(128u));
}

fn f8e4m3_values(codes: vec4u) -> vec4f {
  let a = codes & vec4u(0x7fu);
  let normal = (a << vec4u(20u)) + vec4u(1006632960u);
  let subnormal = bitcast<vec4u>(vec4f(a) * 0.001953125);
  var bits = select(normal, subnormal, a < vec4u(8u));
  bits = select(bits, vec4u(0x7fc00000u), a > vec4u(126u));
  return bitcast<vec4f>(bits | ((codes & vec4u(0x80u)) << vec4u(24u)));
}

fn is_nan(x: vec4f) -> vec4<bool> {
  return (bitcast<vec4u>(x) & vec4u(0x7fffffffu)) > vec4u(0x7f800000u);
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

fn fp8_product(x: vec4f) -> vec4f {
  let y = x * read_fp8(P.fp8_base + 0u) * read_fp8(P.fp8_base + 1u);
  let z = y;
  return z;
}

fn fp8_weight(x: vec4f) -> vec4f {
  let y = x;
  let z = y * read_fp8(P.fp8_base + 4u);
  return f8e4m3_values(f8e4m3_bits(z));
}

fn fp8_o(x: vec4f) -> vec4f {
  let y = x * read_fp8(P.fp8_base + 3u) * read_fp8(P.fp8_base + 2u);
  let z = y * read_fp8(P.fp8_base + 5u);
  return z;
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
  return f8e4m3_values(split_bytes(q[(row + d) >> 2u]));
}

fn k_row(seq: Sequence, h: u32, s: u32) -> u32 {
  return P.k_base + h * P.k_sh + seq.b * P.k_sb + s * P.k_ss;
}

fn k_load4(row: u32, d: u32) -> vec4f {
  return f8e4m3_values(split_bytes(k[(row + d) >> 2u]));
}

fn v_row(seq: Sequence, h: u32, s: u32) -> u32 {
  return P.v_base + h * P.v_sh + seq.b * P.v_sb + s * P.v_ss;
}

fn v_load4(row: u32, d: u32) -> vec4f {
  return f8e4m3_values(split_bytes(v[(row + d) >> 2u]));
}

fn o_row(seq: Sequence, h: u32, s: u32) -> u32 {
  return P.o_base + h * P.o_sh + seq.b * P.o_sb + s * P.o_ss;
}

fn o_store4(row: u32, d: u32, x: vec4f) {
  let bits = f8e4m3_bits(x);
  o[(row + d) >> 2u] = bits.x | (bits.y << 8u) | (bits.z << 16u) | (bits.w << 24u);
}

fn row_at(seq: Sequence, h: u32, i: u32) -> u32 {
  return (seq.b * P.Hq + h) * P.row_stride_h + i;
}

fn row_count(seq: Sequence) -> u32 {
  return P.Sq;
}

fn probabilities(s: vec4f, lse: f32, visible: vec4<bool>) -> vec4f {
  let row_lse = vec4f(lse);
  return select(vec4f(), select(exp(s - row_lse), row_lse, is_nan(row_lse)), visible);
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
  s = fp8_product(s);
  s *= P.scale;
  slope *= P.scale;
  return Score4(mark_non_finite(s), slope, visible);
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

  let tile = P.tiles - 1u - group % P.tiles;
  let h = (group / P.tiles) % P.Hq;
  let h_k = h / P.group_k;
  let h_v = h / P.group_v;
  let seq = sequence_at(group / (P.tiles * P.Hq));
  let i0 = tile * 32u;
  let tx = lane % 8u;
  let ty = lane / 8u;
  let i = i0 + ty * 4u;
  var lse_rows = array(3e38f, 3e38f, 3e38f, 3e38f);
  for (var r = 0u; r < 4u; r++) {
    if (i + r < seq.length_q) {
      let bits = lse[P.lse_base + row_at(seq, h, i + r)];
      lse_rows[r] = select(bitcast<f32>(bits), 3e38, bits == 0xff800000u);
    }
  }
  var acc0_0 = vec4f();
  var acc0_1 = vec4f();
  var acc1_0 = vec4f();
  var acc1_1 = vec4f();
  var acc2_0 = vec4f();
  var acc2_1 = vec4f();
  var acc3_0 = vec4f();
  var acc3_1 = vec4f();

  let keys = key_range(seq, i0, i0 + 32u);
  for (var j0 = keys.x / 32u * 32u; j0 < keys.y; j0 += 32u) {
    let full_tile = tile_inside(seq, i0, i0 + 32u, j0, j0 + 32u);
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
    var s_vectors = array(s0, s1, s2, s3);
    var weight_vectors = array<vec4f, 4>();
    for (var b = 0u; b < 4u; b++) {
      let scored = score4(seq, h, i + b, j, s_vectors[b], full_tile);
      let p = probabilities(scored.value, lse_rows[b], scored.visible);
      weight_vectors[b] = fp8_weight(p);
    }

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
  let acc_rows = array<vec4f, 8>(acc0_0, acc0_1, acc1_0, acc1_1, acc2_0, acc2_1, acc3_0, acc3_1);
  for (var r = 0u; r < 4u; r++) {
    let s = i0 + ty * 4u + r;
    if (s < P.Sq) {
      let row = o_row(seq, h, s);
      for (var n = 0u; n < 2u; n++) {
        let vector = n * 8u + tx;
        if (vector < (P.Dv + 3u) / 4u) {
          o_store4(row, 4u * vector, fp8_o(acc_rows[r * 2u + n]));
        }
      }
    }
  }
}

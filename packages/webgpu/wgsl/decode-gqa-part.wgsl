struct Params {
  first_group: u32,
  end_group: u32,
  tiles: u32,
  head_groups: u32,
  row_heads: u32,
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
  workspace_base: u32,
  parts: u32,
  partial_vectors: u32,
}

@group(0) @binding(0) var<uniform> P: Params;

@group(0) @binding(1) var<storage, read> q: array<vec4f>;

@group(0) @binding(2) var<storage, read> k: array<vec4f>;

@group(0) @binding(3) var<storage, read> v: array<vec4f>;

@group(0) @binding(4) var<storage, read_write> workspace: array<vec4f>;

fn has_non_finite(x: vec4f) -> bool {
  return any((bitcast<vec4u>(x) & vec4u(0x7f800000u)) == vec4u(0x7f800000u));
}

fn mark_non_finite(x: vec4f) -> vec4f {
  let is_high = (bitcast<vec4i>(x) > vec4i(0x7f7fffff)) | (bitcast<vec4u>(x) > vec4u(0xff800000u));
  return select(x, vec4f(0x1.fffffep+127f), is_high);
}

var<workgroup> staged: array<array<vec4f, 33>, 24>;
var<workgroup> weights: array<array<vec4f, 1>, 128>;
var<workgroup> non_finite: atomic<u32>;

fn weighted(weight: f32, x: vec4f) -> vec4f {
  return select(weight * x, vec4f(), weight == 0.0);
}

var<workgroup> row_partial: array<vec4f, 32>;

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

var<workgroup> shared_sequence: Sequence;

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

fn partial_at(row: u32, part: u32) -> u32 {
  return P.workspace_base + (row * P.parts + part) * P.partial_vectors;
}

fn largest(s: Score4) -> f32 {
  let x = select(vec4f(-0x1.fffffep+127f), s.value, s.visible);
  return max(max(x.x, x.y), max(x.z, x.w));
}

fn sum4(x: vec4f) -> f32 {
  return dot(x, vec4f(1.0));
}

fn part_of(keys: vec2u, part: u32) -> vec2u {
  let first = keys.x / 128u;
  let end = max(first, (keys.y + 127u) / 128u);
  let each = (end - first + P.parts - 1u) / P.parts;
  let begin = first + part * each;
  return vec2u(begin * 128u, min(keys.y, (begin + each) * 128u));
}

@compute @workgroup_size(32)
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
  let part = group % P.parts;
  let n = group / P.parts;
  let tile = P.tiles - 1u - n % P.tiles;
  let h = (n / P.tiles) % P.head_groups * P.row_heads;
  let h_k = h / P.group_k;
  let h_v = h / P.group_v;
  if (lane == 0u) {
    shared_sequence = sequence_at(n / (P.tiles * P.head_groups));
  }
  let seq = workgroupUniformLoad(&shared_sequence);
  let row0 = tile * 4u;
  let i0 = row0 / P.row_heads;
  let i1 = (row0 + 3u) / P.row_heads + 1u;
  let tx = lane % 32u;
  let ty = lane / 32u;

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
  var acc1_0 = vec4f();
  var acc2_0 = vec4f();
  var acc3_0 = vec4f();

  let keys = part_of(key_range(seq, i0, i1), part);
  for (var j0 = keys.x / 128u * 128u; j0 < keys.y; j0 += 128u) {
    // S = Q·Kᵀ
    let full_tile = tile_inside(seq, i0, i1, j0, j0 + 128u);
    // Stage and multiply chunks of channels.
    let channels = P.Dqk;
    var s0 = vec4f();
    var s1 = vec4f();
    var s2 = vec4f();
    var s3 = vec4f();
    for (var d0 = 0u; d0 < channels; d0 += 12u) {
      workgroupBarrier();
      for (var n = lane; n < 12u; n += 32u) {
        let r = n / 3u;
        let s = row0 + r;
        let d = d0 + 4u * (n % 3u);
        var x = vec4f();
        if (s < seq.length_q * P.row_heads && d < channels) {
          x = q_load4(q_row(seq, h + (s) % P.row_heads, (s) / P.row_heads), d);
        }
        staged[0u + n % 12u][n / 12u] = x;
      }
      for (var n = lane; n < 384u; n += 32u) {
        let r = n / 3u;
        let s = j0 + r;
        let d = d0 + 4u * (n % 3u);
        var x = vec4f();
        if (s < seq.length_kv && d < channels) {
          x = k_load4(k_row(seq, h_k, s), d);
        }
        staged[12u + n % 12u][n / 12u] = x;
      }
      workgroupBarrier();
      let used = min(3u, (channels - d0 + 3u) / 4u);
      for (var d = 0u; d < used; d++) {
        let a0 = staged[0u + d][ty];
        let a1 = staged[3u + d][ty];
        let a2 = staged[6u + d][ty];
        let a3 = staged[9u + d][ty];
        let b0 = staged[12u + d][tx];
        let b1 = staged[15u + d][tx];
        let b2 = staged[18u + d][tx];
        let b3 = staged[21u + d][tx];
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
      let head = h + (row0 + ty * 4u + b) % P.row_heads;
      let query = (row0 + ty * 4u + b) / P.row_heads;
      scored_vectors[b] = score4(seq, head, query, j, s_vectors[b], full_tile);
    }

    // m' = max(m, rowmax(S))
    row_partial[0u + ty * 32u + tx] = vec4f(max(m0, largest(scored_vectors[0])), max(m1, largest(scored_vectors[1])), max(m2, largest(scored_vectors[2])), max(m3, largest(scored_vectors[3])));
    workgroupBarrier();
    var m_new = vec4f(-0x1.fffffep+127f);
    for (var x = ty * 32u; x < (ty + 1u) * 32u; x++) {
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
    acc1_0 *= rescale1;
    acc2_0 *= rescale2;
    acc3_0 *= rescale3;
    weights[tx * 4u + 0u][ty] = vec4f(p0[0], p1[0], p2[0], p3[0]);
    weights[tx * 4u + 1u][ty] = vec4f(p0[1], p1[1], p2[1], p3[1]);
    weights[tx * 4u + 2u][ty] = vec4f(p0[2], p1[2], p2[2], p3[2]);
    weights[tx * 4u + 3u][ty] = vec4f(p0[3], p1[3], p2[3], p3[3]);
    for (var k0 = 0u; k0 < 128u; k0 += 16u) {
      workgroupBarrier();
      for (var n = lane; n < 512u; n += 32u) {
        let s = j0 + k0 + n / 32u;
        let d = 4u * (n % 32u);
        var x = vec4f();
        if (s < seq.length_kv && d < P.Dv) {
          x = v_load4(v_row(seq, h_v, s), d);
        }
        if (!full_tile && has_non_finite(x)) {
          atomicStore(&non_finite, 1u);
        }
        staged[n / 32u][n % 32u] = x;
      }
      workgroupBarrier();
      if (atomicLoad(&non_finite) == 0u) {
        for (var row = k0; row < k0 + 16u; row++) {
          let k = row - k0;
          let w0 = weights[k0 + k][ty];
          let x0 = staged[k * 1u + 0u][tx];
          acc0_0 += w0[0] * x0;
          acc1_0 += w0[1] * x0;
          acc2_0 += w0[2] * x0;
          acc3_0 += w0[3] * x0;
        }
      } else {
        for (var row = k0; row < k0 + 16u; row++) {
          let k = row - k0;
          let w0 = weights[k0 + k][ty];
          let x0 = staged[k * 1u + 0u][tx];
          acc0_0 += weighted(w0[0], x0);
          acc1_0 += weighted(w0[1], x0);
          acc2_0 += weighted(w0[2], x0);
          acc3_0 += weighted(w0[3], x0);
        }
      }
    }
  }

  // l of all keys
  workgroupBarrier();
  row_partial[0u + ty * 32u + tx] = vec4f(l0, l1, l2, l3);
  workgroupBarrier();
  var sum = vec4f(0.0);
  for (var x = ty * 32u; x < (ty + 1u) * 32u; x++) {
    sum = sum + row_partial[0u + x];
  }
  let sum0 = sum[0];
  let sum1 = sum[1];
  let sum2 = sum[2];
  let sum3 = sum[3];
  // m, l and O of this part, for the merge
  let acc_rows = array<vec4f, 4>(acc0_0, acc1_0, acc2_0, acc3_0);
  let m_rows = array(m0, m1, m2, m3);
  let l_rows = array(sum0, sum1, sum2, sum3);
  for (var r = 0u; r < 4u; r++) {
    let head = h + (row0 + ty * 4u + r) % P.row_heads;
    let query = (row0 + ty * 4u + r) / P.row_heads;
    if (query < seq.length_q) {
      let first = partial_at(row_at(seq, head, query), part);
      if (tx == 0u) {
        workspace[first] = vec4f(m_rows[r], l_rows[r], 0.0, 0.0);
      }
      for (var n = 0u; n < 1u; n++) {
        let vector = n * 32u + tx;
        if (vector < (P.Dv + 3u) / 4u) {
          workspace[first + 1u + vector] = acc_rows[r * 1u + n];
        }
      }
    }
  }
}

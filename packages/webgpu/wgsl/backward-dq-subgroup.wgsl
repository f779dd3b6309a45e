enable subgroups;
diagnostic(off, subgroup_uniformity);

struct Params {
  first_group: u32,
  end_group: u32,
  tiles: u32,
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
  dO_base: u32,
  dO_sb: u32,
  dO_sh: u32,
  dO_ss: u32,
  dO_sd: u32,
  dO_D: u32,
  Hq: u32,
  row_stride_h: u32,
  workspace_base: u32,
  scale: f32,
  dq_base: u32,
  dq_sb: u32,
  dq_sh: u32,
  dq_ss: u32,
  dq_sd: u32,
  dq_D: u32,
}

@group(0) @binding(0) var<uniform> P: Params;

@group(0) @binding(1) var<storage, read> q: array<vec4f>;

@group(0) @binding(2) var<storage, read> k: array<vec4f>;

@group(0) @binding(3) var<storage, read> v: array<vec4f>;

@group(0) @binding(4) var<storage, read> dO: array<vec4f>;

@group(0) @binding(5) var<storage, read> workspace: array<vec2f>;

@group(0) @binding(6) var<storage, read_write> dq: array<vec4f>;

fn has_non_finite(x: vec4f) -> bool {
  return any((bitcast<vec4u>(x) & vec4u(0x7f800000u)) == vec4u(0x7f800000u));
}

fn is_nan(x: vec4f) -> vec4<bool> {
  return (bitcast<vec4u>(x) & vec4u(0x7fffffffu)) > vec4u(0x7f800000u);
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

fn dO_row(seq: Sequence, h: u32, s: u32) -> u32 {
  return P.dO_base + h * P.dO_sh + seq.b * P.dO_sb + s * P.dO_ss;
}

fn dO_load4(row: u32, d: u32) -> vec4f {
  return dO[(row + d) >> 2u];
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
  s *= P.scale;
  slope *= P.scale;
  return Score4(s, slope, visible);
}

fn dq_row(seq: Sequence, h: u32, s: u32) -> u32 {
  return P.dq_base + h * P.dq_sh + seq.b * P.dq_sb + s * P.dq_ss;
}

fn dq_store4(row: u32, d: u32, x: vec4f) {
  dq[(row + d) >> 2u] = x;
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

  let tile = P.tiles - 1u - group % P.tiles;
  let h = (group / P.tiles) % P.Hq;
  let h_k = h / P.group_k;
  let h_v = h / P.group_v;
  let seq = sequence_at(group / (P.tiles * P.Hq));
  let i0 = tile * 32u;
  let tx = 0u;
  let ty = lane;
  var acc_rows = array<vec4f, 64>();
  // (lse, δ) of each row
  let i = i0 + ty * 4u;
  var row_rows = array(vec2f(3e38, 0.0), vec2f(3e38, 0.0), vec2f(3e38, 0.0), vec2f(3e38, 0.0));
  for (var r = 0u; r < 4u; r++) {
    if (i + r < seq.length_q) {
      row_rows[r] = workspace[P.workspace_base + row_at(seq, h, i + r)];
    }
  }
  var q_stationary = array<vec4f, 64>();
  for (var r = 0u; r < 4u; r++) {
    let row = q_row(seq, h, min(i0 + lane * 4u + r, max(seq.length_q, 1u) - 1u));
    for (var d = 0u; d < P.Dqk; d += 4u) {
      q_stationary[r * 16u + d / 4u] = q_load4(row, d);
    }
  }
  var dO_stationary = array<vec4f, 64>();
  for (var r = 0u; r < 4u; r++) {
    let row = dO_row(seq, h, min(i0 + lane * 4u + r, max(seq.length_q, 1u) - 1u));
    for (var d = 0u; d < P.Dv; d += 4u) {
      dO_stationary[r * 16u + d / 4u] = dO_load4(row, d);
    }
  }
  var k_streamed = array<vec4f, 16>();
  var v_streamed = array<vec4f, 16>();

  let keys = key_range(seq, i0, i0 + 32u);
  for (var j0 = keys.x / 4u * 4u; j0 < keys.y; j0 += 4u) {
    // S = Q·Kᵀ, dP = dO·Vᵀ
    let full_tile = tile_inside(seq, i0, i0 + 32u, j0, j0 + 4u);
    var k_non_finite = false;
    {
      let row = k_row(seq, h_k, min(j0 + (subgroup_lane & 3u), max(seq.length_kv, 1u) - 1u));
      for (var n = 0u; n < 16u; n++) {
        let x = k_load4(row, 4u * n);
        k_streamed[n] = x;
        k_non_finite |= has_non_finite(x);
      }
    }
    var s_streamed = mat4x4f();
    for (var turn = 0u; turn < 4u; turn++) {
      let is_turn = vec4u(select(0u, 0xffffffffu, (subgroup_lane & 3u) == turn));
      let own0 = bitcast<vec4u>(k_streamed[0]) & is_turn;
      let pair0 = own0 | quadSwapX(own0);
      let broadcast0 = bitcast<vec4f>(pair0 | quadSwapY(pair0));
      let sum0 = broadcast0 * mat4x4f(q_stationary[0], q_stationary[16], q_stationary[32], q_stationary[48]);
      let own1 = bitcast<vec4u>(k_streamed[1]) & is_turn;
      let pair1 = own1 | quadSwapX(own1);
      let broadcast1 = bitcast<vec4f>(pair1 | quadSwapY(pair1));
      let sum1 = sum0 + broadcast1 * mat4x4f(q_stationary[1], q_stationary[17], q_stationary[33], q_stationary[49]);
      let own2 = bitcast<vec4u>(k_streamed[2]) & is_turn;
      let pair2 = own2 | quadSwapX(own2);
      let broadcast2 = bitcast<vec4f>(pair2 | quadSwapY(pair2));
      let sum2 = sum1 + broadcast2 * mat4x4f(q_stationary[2], q_stationary[18], q_stationary[34], q_stationary[50]);
      let own3 = bitcast<vec4u>(k_streamed[3]) & is_turn;
      let pair3 = own3 | quadSwapX(own3);
      let broadcast3 = bitcast<vec4f>(pair3 | quadSwapY(pair3));
      let sum3 = sum2 + broadcast3 * mat4x4f(q_stationary[3], q_stationary[19], q_stationary[35], q_stationary[51]);
      let own4 = bitcast<vec4u>(k_streamed[4]) & is_turn;
      let pair4 = own4 | quadSwapX(own4);
      let broadcast4 = bitcast<vec4f>(pair4 | quadSwapY(pair4));
      let sum4 = sum3 + broadcast4 * mat4x4f(q_stationary[4], q_stationary[20], q_stationary[36], q_stationary[52]);
      let own5 = bitcast<vec4u>(k_streamed[5]) & is_turn;
      let pair5 = own5 | quadSwapX(own5);
      let broadcast5 = bitcast<vec4f>(pair5 | quadSwapY(pair5));
      let sum5 = sum4 + broadcast5 * mat4x4f(q_stationary[5], q_stationary[21], q_stationary[37], q_stationary[53]);
      let own6 = bitcast<vec4u>(k_streamed[6]) & is_turn;
      let pair6 = own6 | quadSwapX(own6);
      let broadcast6 = bitcast<vec4f>(pair6 | quadSwapY(pair6));
      let sum6 = sum5 + broadcast6 * mat4x4f(q_stationary[6], q_stationary[22], q_stationary[38], q_stationary[54]);
      let own7 = bitcast<vec4u>(k_streamed[7]) & is_turn;
      let pair7 = own7 | quadSwapX(own7);
      let broadcast7 = bitcast<vec4f>(pair7 | quadSwapY(pair7));
      let sum7 = sum6 + broadcast7 * mat4x4f(q_stationary[7], q_stationary[23], q_stationary[39], q_stationary[55]);
      let own8 = bitcast<vec4u>(k_streamed[8]) & is_turn;
      let pair8 = own8 | quadSwapX(own8);
      let broadcast8 = bitcast<vec4f>(pair8 | quadSwapY(pair8));
      let sum8 = sum7 + broadcast8 * mat4x4f(q_stationary[8], q_stationary[24], q_stationary[40], q_stationary[56]);
      let own9 = bitcast<vec4u>(k_streamed[9]) & is_turn;
      let pair9 = own9 | quadSwapX(own9);
      let broadcast9 = bitcast<vec4f>(pair9 | quadSwapY(pair9));
      let sum9 = sum8 + broadcast9 * mat4x4f(q_stationary[9], q_stationary[25], q_stationary[41], q_stationary[57]);
      let own10 = bitcast<vec4u>(k_streamed[10]) & is_turn;
      let pair10 = own10 | quadSwapX(own10);
      let broadcast10 = bitcast<vec4f>(pair10 | quadSwapY(pair10));
      let sum10 = sum9 + broadcast10 * mat4x4f(q_stationary[10], q_stationary[26], q_stationary[42], q_stationary[58]);
      let own11 = bitcast<vec4u>(k_streamed[11]) & is_turn;
      let pair11 = own11 | quadSwapX(own11);
      let broadcast11 = bitcast<vec4f>(pair11 | quadSwapY(pair11));
      let sum11 = sum10 + broadcast11 * mat4x4f(q_stationary[11], q_stationary[27], q_stationary[43], q_stationary[59]);
      let own12 = bitcast<vec4u>(k_streamed[12]) & is_turn;
      let pair12 = own12 | quadSwapX(own12);
      let broadcast12 = bitcast<vec4f>(pair12 | quadSwapY(pair12));
      let sum12 = sum11 + broadcast12 * mat4x4f(q_stationary[12], q_stationary[28], q_stationary[44], q_stationary[60]);
      let own13 = bitcast<vec4u>(k_streamed[13]) & is_turn;
      let pair13 = own13 | quadSwapX(own13);
      let broadcast13 = bitcast<vec4f>(pair13 | quadSwapY(pair13));
      let sum13 = sum12 + broadcast13 * mat4x4f(q_stationary[13], q_stationary[29], q_stationary[45], q_stationary[61]);
      let own14 = bitcast<vec4u>(k_streamed[14]) & is_turn;
      let pair14 = own14 | quadSwapX(own14);
      let broadcast14 = bitcast<vec4f>(pair14 | quadSwapY(pair14));
      let sum14 = sum13 + broadcast14 * mat4x4f(q_stationary[14], q_stationary[30], q_stationary[46], q_stationary[62]);
      let own15 = bitcast<vec4u>(k_streamed[15]) & is_turn;
      let pair15 = own15 | quadSwapX(own15);
      let broadcast15 = bitcast<vec4f>(pair15 | quadSwapY(pair15));
      let sum15 = sum14 + broadcast15 * mat4x4f(q_stationary[15], q_stationary[31], q_stationary[47], q_stationary[63]);
      s_streamed[turn] = sum15;
    }
    let s_by_query = transpose(s_streamed);
    let s0 = s_by_query[0];
    let s1 = s_by_query[1];
    let s2 = s_by_query[2];
    let s3 = s_by_query[3];

    {
      let row = v_row(seq, h_v, min(j0 + (subgroup_lane & 3u), max(seq.length_kv, 1u) - 1u));
      for (var n = 0u; n < 16u; n++) {
        let x = v_load4(row, 4u * n);
        v_streamed[n] = x;
      }
    }
    var dp_streamed = mat4x4f();
    for (var turn = 0u; turn < 4u; turn++) {
      let is_turn = vec4u(select(0u, 0xffffffffu, (subgroup_lane & 3u) == turn));
      let own0 = bitcast<vec4u>(v_streamed[0]) & is_turn;
      let pair0 = own0 | quadSwapX(own0);
      let broadcast0 = bitcast<vec4f>(pair0 | quadSwapY(pair0));
      let sum0 = broadcast0 * mat4x4f(dO_stationary[0], dO_stationary[16], dO_stationary[32], dO_stationary[48]);
      let own1 = bitcast<vec4u>(v_streamed[1]) & is_turn;
      let pair1 = own1 | quadSwapX(own1);
      let broadcast1 = bitcast<vec4f>(pair1 | quadSwapY(pair1));
      let sum1 = sum0 + broadcast1 * mat4x4f(dO_stationary[1], dO_stationary[17], dO_stationary[33], dO_stationary[49]);
      let own2 = bitcast<vec4u>(v_streamed[2]) & is_turn;
      let pair2 = own2 | quadSwapX(own2);
      let broadcast2 = bitcast<vec4f>(pair2 | quadSwapY(pair2));
      let sum2 = sum1 + broadcast2 * mat4x4f(dO_stationary[2], dO_stationary[18], dO_stationary[34], dO_stationary[50]);
      let own3 = bitcast<vec4u>(v_streamed[3]) & is_turn;
      let pair3 = own3 | quadSwapX(own3);
      let broadcast3 = bitcast<vec4f>(pair3 | quadSwapY(pair3));
      let sum3 = sum2 + broadcast3 * mat4x4f(dO_stationary[3], dO_stationary[19], dO_stationary[35], dO_stationary[51]);
      let own4 = bitcast<vec4u>(v_streamed[4]) & is_turn;
      let pair4 = own4 | quadSwapX(own4);
      let broadcast4 = bitcast<vec4f>(pair4 | quadSwapY(pair4));
      let sum4 = sum3 + broadcast4 * mat4x4f(dO_stationary[4], dO_stationary[20], dO_stationary[36], dO_stationary[52]);
      let own5 = bitcast<vec4u>(v_streamed[5]) & is_turn;
      let pair5 = own5 | quadSwapX(own5);
      let broadcast5 = bitcast<vec4f>(pair5 | quadSwapY(pair5));
      let sum5 = sum4 + broadcast5 * mat4x4f(dO_stationary[5], dO_stationary[21], dO_stationary[37], dO_stationary[53]);
      let own6 = bitcast<vec4u>(v_streamed[6]) & is_turn;
      let pair6 = own6 | quadSwapX(own6);
      let broadcast6 = bitcast<vec4f>(pair6 | quadSwapY(pair6));
      let sum6 = sum5 + broadcast6 * mat4x4f(dO_stationary[6], dO_stationary[22], dO_stationary[38], dO_stationary[54]);
      let own7 = bitcast<vec4u>(v_streamed[7]) & is_turn;
      let pair7 = own7 | quadSwapX(own7);
      let broadcast7 = bitcast<vec4f>(pair7 | quadSwapY(pair7));
      let sum7 = sum6 + broadcast7 * mat4x4f(dO_stationary[7], dO_stationary[23], dO_stationary[39], dO_stationary[55]);
      let own8 = bitcast<vec4u>(v_streamed[8]) & is_turn;
      let pair8 = own8 | quadSwapX(own8);
      let broadcast8 = bitcast<vec4f>(pair8 | quadSwapY(pair8));
      let sum8 = sum7 + broadcast8 * mat4x4f(dO_stationary[8], dO_stationary[24], dO_stationary[40], dO_stationary[56]);
      let own9 = bitcast<vec4u>(v_streamed[9]) & is_turn;
      let pair9 = own9 | quadSwapX(own9);
      let broadcast9 = bitcast<vec4f>(pair9 | quadSwapY(pair9));
      let sum9 = sum8 + broadcast9 * mat4x4f(dO_stationary[9], dO_stationary[25], dO_stationary[41], dO_stationary[57]);
      let own10 = bitcast<vec4u>(v_streamed[10]) & is_turn;
      let pair10 = own10 | quadSwapX(own10);
      let broadcast10 = bitcast<vec4f>(pair10 | quadSwapY(pair10));
      let sum10 = sum9 + broadcast10 * mat4x4f(dO_stationary[10], dO_stationary[26], dO_stationary[42], dO_stationary[58]);
      let own11 = bitcast<vec4u>(v_streamed[11]) & is_turn;
      let pair11 = own11 | quadSwapX(own11);
      let broadcast11 = bitcast<vec4f>(pair11 | quadSwapY(pair11));
      let sum11 = sum10 + broadcast11 * mat4x4f(dO_stationary[11], dO_stationary[27], dO_stationary[43], dO_stationary[59]);
      let own12 = bitcast<vec4u>(v_streamed[12]) & is_turn;
      let pair12 = own12 | quadSwapX(own12);
      let broadcast12 = bitcast<vec4f>(pair12 | quadSwapY(pair12));
      let sum12 = sum11 + broadcast12 * mat4x4f(dO_stationary[12], dO_stationary[28], dO_stationary[44], dO_stationary[60]);
      let own13 = bitcast<vec4u>(v_streamed[13]) & is_turn;
      let pair13 = own13 | quadSwapX(own13);
      let broadcast13 = bitcast<vec4f>(pair13 | quadSwapY(pair13));
      let sum13 = sum12 + broadcast13 * mat4x4f(dO_stationary[13], dO_stationary[29], dO_stationary[45], dO_stationary[61]);
      let own14 = bitcast<vec4u>(v_streamed[14]) & is_turn;
      let pair14 = own14 | quadSwapX(own14);
      let broadcast14 = bitcast<vec4f>(pair14 | quadSwapY(pair14));
      let sum14 = sum13 + broadcast14 * mat4x4f(dO_stationary[14], dO_stationary[30], dO_stationary[46], dO_stationary[62]);
      let own15 = bitcast<vec4u>(v_streamed[15]) & is_turn;
      let pair15 = own15 | quadSwapX(own15);
      let broadcast15 = bitcast<vec4f>(pair15 | quadSwapY(pair15));
      let sum15 = sum14 + broadcast15 * mat4x4f(dO_stationary[15], dO_stationary[31], dO_stationary[47], dO_stationary[63]);
      dp_streamed[turn] = sum15;
    }
    let dp_by_query = transpose(dp_streamed);
    let dp0 = dp_by_query[0];
    let dp1 = dp_by_query[1];
    let dp2 = dp_by_query[2];
    let dp3 = dp_by_query[3];

    // P = e^(S − lse), dS = P ∘ (dP − δ) ∘ slope
    let j = j0 + tx * 4u;
    var s_vectors = array(s0, s1, s2, s3);
    var dp_vectors = array(dp0, dp1, dp2, dp3);
    var ds_vectors = array<vec4f, 4>();
    for (var b = 0u; b < 4u; b++) {
      let scored = score4(seq, h, i + b, j, s_vectors[b], full_tile);
      let p = probabilities(scored.value, row_rows[b].x, scored.visible);
      let df = select(vec4f(), p * (dp_vectors[b] - row_rows[b].y), scored.visible);
      ds_vectors[b] = select(vec4f(), df * scored.slope, scored.visible);
    }

    // dQ += dS·K
    {
      let weights = mat4x4f(ds_vectors[0], ds_vectors[1], ds_vectors[2], ds_vectors[3]);
      if (subgroupAny(!full_tile && k_non_finite)) {
        for (var i = 0u; i < 64u; i++) {
          let x = k_streamed[i % 16u];
          let row_weights = weights[i / 16u];
          acc_rows[i] = acc_rows[i]
            + weighted(row_weights[0], quadBroadcast(x, 0u))
            + weighted(row_weights[1], quadBroadcast(x, 1u))
            + weighted(row_weights[2], quadBroadcast(x, 2u))
            + weighted(row_weights[3], quadBroadcast(x, 3u));
        }
      } else {
        let broadcast0 = mat4x4f(quadBroadcast(k_streamed[0], 0u), quadBroadcast(k_streamed[0], 1u), quadBroadcast(k_streamed[0], 2u), quadBroadcast(k_streamed[0], 3u));
        acc_rows[0] = acc_rows[0] + broadcast0 * weights[0];
        acc_rows[16] = acc_rows[16] + broadcast0 * weights[1];
        acc_rows[32] = acc_rows[32] + broadcast0 * weights[2];
        acc_rows[48] = acc_rows[48] + broadcast0 * weights[3];
        let broadcast1 = mat4x4f(quadBroadcast(k_streamed[1], 0u), quadBroadcast(k_streamed[1], 1u), quadBroadcast(k_streamed[1], 2u), quadBroadcast(k_streamed[1], 3u));
        acc_rows[1] = acc_rows[1] + broadcast1 * weights[0];
        acc_rows[17] = acc_rows[17] + broadcast1 * weights[1];
        acc_rows[33] = acc_rows[33] + broadcast1 * weights[2];
        acc_rows[49] = acc_rows[49] + broadcast1 * weights[3];
        let broadcast2 = mat4x4f(quadBroadcast(k_streamed[2], 0u), quadBroadcast(k_streamed[2], 1u), quadBroadcast(k_streamed[2], 2u), quadBroadcast(k_streamed[2], 3u));
        acc_rows[2] = acc_rows[2] + broadcast2 * weights[0];
        acc_rows[18] = acc_rows[18] + broadcast2 * weights[1];
        acc_rows[34] = acc_rows[34] + broadcast2 * weights[2];
        acc_rows[50] = acc_rows[50] + broadcast2 * weights[3];
        let broadcast3 = mat4x4f(quadBroadcast(k_streamed[3], 0u), quadBroadcast(k_streamed[3], 1u), quadBroadcast(k_streamed[3], 2u), quadBroadcast(k_streamed[3], 3u));
        acc_rows[3] = acc_rows[3] + broadcast3 * weights[0];
        acc_rows[19] = acc_rows[19] + broadcast3 * weights[1];
        acc_rows[35] = acc_rows[35] + broadcast3 * weights[2];
        acc_rows[51] = acc_rows[51] + broadcast3 * weights[3];
        let broadcast4 = mat4x4f(quadBroadcast(k_streamed[4], 0u), quadBroadcast(k_streamed[4], 1u), quadBroadcast(k_streamed[4], 2u), quadBroadcast(k_streamed[4], 3u));
        acc_rows[4] = acc_rows[4] + broadcast4 * weights[0];
        acc_rows[20] = acc_rows[20] + broadcast4 * weights[1];
        acc_rows[36] = acc_rows[36] + broadcast4 * weights[2];
        acc_rows[52] = acc_rows[52] + broadcast4 * weights[3];
        let broadcast5 = mat4x4f(quadBroadcast(k_streamed[5], 0u), quadBroadcast(k_streamed[5], 1u), quadBroadcast(k_streamed[5], 2u), quadBroadcast(k_streamed[5], 3u));
        acc_rows[5] = acc_rows[5] + broadcast5 * weights[0];
        acc_rows[21] = acc_rows[21] + broadcast5 * weights[1];
        acc_rows[37] = acc_rows[37] + broadcast5 * weights[2];
        acc_rows[53] = acc_rows[53] + broadcast5 * weights[3];
        let broadcast6 = mat4x4f(quadBroadcast(k_streamed[6], 0u), quadBroadcast(k_streamed[6], 1u), quadBroadcast(k_streamed[6], 2u), quadBroadcast(k_streamed[6], 3u));
        acc_rows[6] = acc_rows[6] + broadcast6 * weights[0];
        acc_rows[22] = acc_rows[22] + broadcast6 * weights[1];
        acc_rows[38] = acc_rows[38] + broadcast6 * weights[2];
        acc_rows[54] = acc_rows[54] + broadcast6 * weights[3];
        let broadcast7 = mat4x4f(quadBroadcast(k_streamed[7], 0u), quadBroadcast(k_streamed[7], 1u), quadBroadcast(k_streamed[7], 2u), quadBroadcast(k_streamed[7], 3u));
        acc_rows[7] = acc_rows[7] + broadcast7 * weights[0];
        acc_rows[23] = acc_rows[23] + broadcast7 * weights[1];
        acc_rows[39] = acc_rows[39] + broadcast7 * weights[2];
        acc_rows[55] = acc_rows[55] + broadcast7 * weights[3];
        let broadcast8 = mat4x4f(quadBroadcast(k_streamed[8], 0u), quadBroadcast(k_streamed[8], 1u), quadBroadcast(k_streamed[8], 2u), quadBroadcast(k_streamed[8], 3u));
        acc_rows[8] = acc_rows[8] + broadcast8 * weights[0];
        acc_rows[24] = acc_rows[24] + broadcast8 * weights[1];
        acc_rows[40] = acc_rows[40] + broadcast8 * weights[2];
        acc_rows[56] = acc_rows[56] + broadcast8 * weights[3];
        let broadcast9 = mat4x4f(quadBroadcast(k_streamed[9], 0u), quadBroadcast(k_streamed[9], 1u), quadBroadcast(k_streamed[9], 2u), quadBroadcast(k_streamed[9], 3u));
        acc_rows[9] = acc_rows[9] + broadcast9 * weights[0];
        acc_rows[25] = acc_rows[25] + broadcast9 * weights[1];
        acc_rows[41] = acc_rows[41] + broadcast9 * weights[2];
        acc_rows[57] = acc_rows[57] + broadcast9 * weights[3];
        let broadcast10 = mat4x4f(quadBroadcast(k_streamed[10], 0u), quadBroadcast(k_streamed[10], 1u), quadBroadcast(k_streamed[10], 2u), quadBroadcast(k_streamed[10], 3u));
        acc_rows[10] = acc_rows[10] + broadcast10 * weights[0];
        acc_rows[26] = acc_rows[26] + broadcast10 * weights[1];
        acc_rows[42] = acc_rows[42] + broadcast10 * weights[2];
        acc_rows[58] = acc_rows[58] + broadcast10 * weights[3];
        let broadcast11 = mat4x4f(quadBroadcast(k_streamed[11], 0u), quadBroadcast(k_streamed[11], 1u), quadBroadcast(k_streamed[11], 2u), quadBroadcast(k_streamed[11], 3u));
        acc_rows[11] = acc_rows[11] + broadcast11 * weights[0];
        acc_rows[27] = acc_rows[27] + broadcast11 * weights[1];
        acc_rows[43] = acc_rows[43] + broadcast11 * weights[2];
        acc_rows[59] = acc_rows[59] + broadcast11 * weights[3];
        let broadcast12 = mat4x4f(quadBroadcast(k_streamed[12], 0u), quadBroadcast(k_streamed[12], 1u), quadBroadcast(k_streamed[12], 2u), quadBroadcast(k_streamed[12], 3u));
        acc_rows[12] = acc_rows[12] + broadcast12 * weights[0];
        acc_rows[28] = acc_rows[28] + broadcast12 * weights[1];
        acc_rows[44] = acc_rows[44] + broadcast12 * weights[2];
        acc_rows[60] = acc_rows[60] + broadcast12 * weights[3];
        let broadcast13 = mat4x4f(quadBroadcast(k_streamed[13], 0u), quadBroadcast(k_streamed[13], 1u), quadBroadcast(k_streamed[13], 2u), quadBroadcast(k_streamed[13], 3u));
        acc_rows[13] = acc_rows[13] + broadcast13 * weights[0];
        acc_rows[29] = acc_rows[29] + broadcast13 * weights[1];
        acc_rows[45] = acc_rows[45] + broadcast13 * weights[2];
        acc_rows[61] = acc_rows[61] + broadcast13 * weights[3];
        let broadcast14 = mat4x4f(quadBroadcast(k_streamed[14], 0u), quadBroadcast(k_streamed[14], 1u), quadBroadcast(k_streamed[14], 2u), quadBroadcast(k_streamed[14], 3u));
        acc_rows[14] = acc_rows[14] + broadcast14 * weights[0];
        acc_rows[30] = acc_rows[30] + broadcast14 * weights[1];
        acc_rows[46] = acc_rows[46] + broadcast14 * weights[2];
        acc_rows[62] = acc_rows[62] + broadcast14 * weights[3];
        let broadcast15 = mat4x4f(quadBroadcast(k_streamed[15], 0u), quadBroadcast(k_streamed[15], 1u), quadBroadcast(k_streamed[15], 2u), quadBroadcast(k_streamed[15], 3u));
        acc_rows[15] = acc_rows[15] + broadcast15 * weights[0];
        acc_rows[31] = acc_rows[31] + broadcast15 * weights[1];
        acc_rows[47] = acc_rows[47] + broadcast15 * weights[2];
        acc_rows[63] = acc_rows[63] + broadcast15 * weights[3];
      }
    }
  }

  for (var r = 0u; r < 4u; r++) {
    let s = i0 + lane * 4u + r;
    if (s < P.Sq) {
      let row = dq_row(seq, h, s);
      for (var n = 0u; n < (P.Dqk + 3u) / 4u; n++) {
        let vector = n;
        if (vector < (P.Dqk + 3u) / 4u) {
          dq_store4(row, 4u * vector, acc_rows[r * 16u + n]);
        }
      }
    }
  }
}

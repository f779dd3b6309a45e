struct Params {
  first_group: u32,
  end_group: u32,
  tiles: u32,
  Sq: u32,
  Skv: u32,
  Dqk: u32,
  Dv: u32,
  band_left: i32,
  band_right: i32,
  bottom_right: i32,
  Hq: u32,
  row_stride_h: u32,
  workspace_base: u32,
  parts: u32,
  partial_vectors: u32,
  o_base: u32,
  o_sb: u32,
  o_sh: u32,
  o_ss: u32,
  o_sd: u32,
  o_D: u32,
  lse_base: u32,
}

@group(0) @binding(0) var<uniform> P: Params;

@group(0) @binding(1) var<storage, read> workspace: array<vec4f>;

@group(0) @binding(2) var<storage, read_write> o: array<vec4f>;

@group(0) @binding(3) var<storage, read_write> lse_rows: array<u32>;

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

fn row_at(seq: Sequence, h: u32, i: u32) -> u32 {
  return (seq.b * P.Hq + h) * P.row_stride_h + i;
}

fn row_count(seq: Sequence) -> u32 {
  return P.Sq;
}

fn partial_at(row: u32, part: u32) -> u32 {
  return P.workspace_base + (row * P.parts + part) * P.partial_vectors;
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

  let n = (group % P.tiles) * 64u + lane;
  let i = n / (P.partial_vectors - 1u);
  let vector = n % (P.partial_vectors - 1u);
  if (i >= P.Sq) {
    return;
  }
  let h = (group / P.tiles) % P.Hq;
  let seq = sequence_at(group / (P.tiles * P.Hq));
  let at = row_at(seq, h, i);
  var m = -0x1.fffffep+127f;
  var l = 0.0;
  var acc = vec4f();
  var scale = 1.0;
  if (i < seq.length_q) {
    // m = max_n m_n
    for (var part = 0u; part < P.parts; part += 8u) {
      let m_0 = workspace[partial_at(at, min(part + 0u, P.parts - 1u))].x;
      let m_1 = workspace[partial_at(at, min(part + 1u, P.parts - 1u))].x;
      let m_2 = workspace[partial_at(at, min(part + 2u, P.parts - 1u))].x;
      let m_3 = workspace[partial_at(at, min(part + 3u, P.parts - 1u))].x;
      let m_4 = workspace[partial_at(at, min(part + 4u, P.parts - 1u))].x;
      let m_5 = workspace[partial_at(at, min(part + 5u, P.parts - 1u))].x;
      let m_6 = workspace[partial_at(at, min(part + 6u, P.parts - 1u))].x;
      let m_7 = workspace[partial_at(at, min(part + 7u, P.parts - 1u))].x;
      m = max(m, m_0);
      m = max(m, m_1);
      m = max(m, m_2);
      m = max(m, m_3);
      m = max(m, m_4);
      m = max(m, m_5);
      m = max(m, m_6);
      m = max(m, m_7);
    }
    // l = Σ_n e^(m_n − m)·l_n, O = Σ_n e^(m_n − m)·O_n
    for (var part = 0u; part < P.parts; part += 8u) {
      let first_0 = partial_at(at, min(part + 0u, P.parts - 1u));
      let ml_0 = workspace[first_0];
      let o_0 = workspace[first_0 + 1u + vector];
      let first_1 = partial_at(at, min(part + 1u, P.parts - 1u));
      let ml_1 = workspace[first_1];
      let o_1 = workspace[first_1 + 1u + vector];
      let first_2 = partial_at(at, min(part + 2u, P.parts - 1u));
      let ml_2 = workspace[first_2];
      let o_2 = workspace[first_2 + 1u + vector];
      let first_3 = partial_at(at, min(part + 3u, P.parts - 1u));
      let ml_3 = workspace[first_3];
      let o_3 = workspace[first_3 + 1u + vector];
      let first_4 = partial_at(at, min(part + 4u, P.parts - 1u));
      let ml_4 = workspace[first_4];
      let o_4 = workspace[first_4 + 1u + vector];
      let first_5 = partial_at(at, min(part + 5u, P.parts - 1u));
      let ml_5 = workspace[first_5];
      let o_5 = workspace[first_5 + 1u + vector];
      let first_6 = partial_at(at, min(part + 6u, P.parts - 1u));
      let ml_6 = workspace[first_6];
      let o_6 = workspace[first_6 + 1u + vector];
      let first_7 = partial_at(at, min(part + 7u, P.parts - 1u));
      let ml_7 = workspace[first_7];
      let o_7 = workspace[first_7 + 1u + vector];
      {
        let is_part = part + 0u < P.parts;
        let weight = select(0.0, exp(ml_0.x - m), is_part);
        l += weight * ml_0.y;
        acc += weight * select(vec4f(), o_0, is_part);
      }
      {
        let is_part = part + 1u < P.parts;
        let weight = select(0.0, exp(ml_1.x - m), is_part);
        l += weight * ml_1.y;
        acc += weight * select(vec4f(), o_1, is_part);
      }
      {
        let is_part = part + 2u < P.parts;
        let weight = select(0.0, exp(ml_2.x - m), is_part);
        l += weight * ml_2.y;
        acc += weight * select(vec4f(), o_2, is_part);
      }
      {
        let is_part = part + 3u < P.parts;
        let weight = select(0.0, exp(ml_3.x - m), is_part);
        l += weight * ml_3.y;
        acc += weight * select(vec4f(), o_3, is_part);
      }
      {
        let is_part = part + 4u < P.parts;
        let weight = select(0.0, exp(ml_4.x - m), is_part);
        l += weight * ml_4.y;
        acc += weight * select(vec4f(), o_4, is_part);
      }
      {
        let is_part = part + 5u < P.parts;
        let weight = select(0.0, exp(ml_5.x - m), is_part);
        l += weight * ml_5.y;
        acc += weight * select(vec4f(), o_5, is_part);
      }
      {
        let is_part = part + 6u < P.parts;
        let weight = select(0.0, exp(ml_6.x - m), is_part);
        l += weight * ml_6.y;
        acc += weight * select(vec4f(), o_6, is_part);
      }
      {
        let is_part = part + 7u < P.parts;
        let weight = select(0.0, exp(ml_7.x - m), is_part);
        l += weight * ml_7.y;
        acc += weight * select(vec4f(), o_7, is_part);
      }
    }
  }
  if (i < P.Sq) {
    o_store4(o_row(seq, h, i), 4u * vector, acc * output_scale(m, l, scale));
  }
  if (vector == 0u && i < row_count(seq)) {
    lse_write(at, m, l);
  }
}

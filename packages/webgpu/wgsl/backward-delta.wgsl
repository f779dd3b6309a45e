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
  o_base: u32,
  o_sb: u32,
  o_sh: u32,
  o_ss: u32,
  o_sd: u32,
  o_D: u32,
  dO_base: u32,
  dO_sb: u32,
  dO_sh: u32,
  dO_ss: u32,
  dO_sd: u32,
  dO_D: u32,
  Hq: u32,
  row_stride_h: u32,
  lse_base: u32,
  workspace_base: u32,
}

@group(0) @binding(0) var<uniform> P: Params;

@group(0) @binding(1) var<storage, read> o: array<vec4f>;

@group(0) @binding(2) var<storage, read> dO: array<vec4f>;

@group(0) @binding(3) var<storage, read> lse: array<u32>;

@group(0) @binding(4) var<storage, read_write> workspace: array<vec2f>;

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

fn o_row(seq: Sequence, h: u32, s: u32) -> u32 {
  return P.o_base + h * P.o_sh + seq.b * P.o_sb + s * P.o_ss;
}

fn o_load4(row: u32, d: u32) -> vec4f {
  return o[(row + d) >> 2u];
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

var<workgroup> partial: array<f32, 64>;

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

  let h = (group / P.tiles) % P.Hq;
  let seq = sequence_at(group / (P.tiles * P.Hq));
  let i = (group % P.tiles) * 8u + lane / 8u;
  let x = lane % 8u;
  var sum = 0.0;
  if (i < seq.length_q) {
    let row_o = o_row(seq, h, i);
    let row_dO = dO_row(seq, h, i);
    for (var d = 4u * x; d < P.Dv; d += 32u) {
      sum += dot(o_load4(row_o, d), dO_load4(row_dO, d));
    }
  }
  partial[lane] = sum;
  workgroupBarrier();
  if (x == 0u && i < seq.length_q) {
    let at = row_at(seq, h, i);
    for (var n = 1u; n < 8u; n++) {
      sum += partial[lane + n];
    }
    // δ = rowsum(O ∘ dO) − dLse
    var delta = vec4f(sum).x;

    let bits = lse[P.lse_base + at];
    workspace[P.workspace_base + at] = vec2f(select(bitcast<f32>(bits), 3e38, bits == 0xff800000u), delta);
  }
}

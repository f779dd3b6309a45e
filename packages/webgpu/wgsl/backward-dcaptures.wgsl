struct Params {
  first_group: u32,
  end_group: u32,
  strips: u32,
  tiles: u32,
  groups: u32,
  captured_distance_table: u32,
  table_vectors: u32,
  group_vectors: u32,
  partial_sums_base: u32,
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
  captured_distance_base: u32,
  captured_distance_last0: i32,
  captured_distance_stride0: u32,
  scale: f32,
}

@group(0) @binding(0) var<uniform> P: Params;

@group(0) @binding(1) var<storage, read_write> partial_sums: array<vec2f>;

@group(0) @binding(2) var<storage, read> q: array<vec4f>;

@group(0) @binding(3) var<storage, read> k: array<vec4f>;

@group(0) @binding(4) var<storage, read> v: array<vec4f>;

@group(0) @binding(5) var<storage, read> dO: array<vec4f>;

@group(0) @binding(6) var<storage, read_write> workspace: array<vec2f>;

@group(0) @binding(7) var<storage, read> captured_distance: array<f32>;

fn read_captured_distance(at: u32) -> f32 {
  return captured_distance[at];
}

fn has_non_finite(x: vec4f) -> bool {
  return any((bitcast<vec4u>(x) & vec4u(0x7f800000u)) == vec4u(0x7f800000u));
}

fn is_nan(x: vec4f) -> vec4<bool> {
  return (bitcast<vec4u>(x) & vec4u(0x7fffffffu)) > vec4u(0x7f800000u);
}

fn is_negative_infinity(x: f32) -> bool {
  return bitcast<u32>(x) == 0xff800000u;
}

fn expr_floor_div(a: i32, b: i32) -> i32 {
  let r = a % b;
  return a / b - select(0i, 1i, r != 0i && ((r < 0i) != (b < 0i)));
}
fn expr_mod(a: i32, b: i32) -> i32 {
  let r = a % b;
  return r + select(0i, b, r != 0i && ((r < 0i) != (b < 0i)));
}
fn expr_log(x: f32) -> f32 {
  let bits = bitcast<u32>(x);
  let limit = select(bitcast<f32>(bits | 0x7fc00000u), bitcast<f32>(bits | 0xff800000u), x == 0f);
  return select(log(x), limit, x <= 0f);
}
fn expr_pow(x: f32, y: f32) -> f32 {
  if (y == 0f) { return 1f; }
  let magnitude = pow(abs(x), y);
  if (x >= 0f) { return magnitude; }
  let nan = bitcast<f32>(bitcast<u32>(x) | 0x7fc00000u);
  return select(nan, select(magnitude, -magnitude, abs(y) % 2f == 1f), y == trunc(y));
}
fn expr_tanh(x: f32) -> f32 {
  let a = min(abs(x), 15f);
  let y = a * a;
  let near = a * (1f + y * (-1f / 3f + y * (2f / 15f + y * (-17f / 315f + y * (62f / 2835f)))));
  return sign(x) * select(1f - 2f / (exp(2f * a) + 1f), near, a < 0.25f);
}
fn expr_sin_of_quadrant(x: f32, quadrants: i32) -> f32 {
  let n = round(x * 0.63661977f);
  let r = ((x - n * 1.5703125f) - n * 4.837513e-4f) - n * 7.54979e-8f;
  let y = r * r;
  let s = r * (1f - y * (1f / 6f - y * (1f / 120f - y * (1f / 5040f - y * (1f / 362880f)))));
  let c = 1f - y * (0.5f - y * (1f / 24f - y * (1f / 720f - y * (1f / 40320f - y * (1f / 3628800f)))));
  let quadrant = (i32(n) + quadrants) & 3i;
  let value = select(s, c, (quadrant & 1i) == 1i);
  return select(value, -value, quadrant >= 2i);
}
fn expr_sin(x: f32) -> f32 {
  return expr_sin_of_quadrant(x, 0i);
}
fn expr_cos(x: f32) -> f32 {
  return expr_sin_of_quadrant(x, 1i);
}
fn expr_erf(x: f32) -> f32 {
  let a = abs(x);
  let t = 1f / (1f + 0.3275911f * a);
  let p = ((((1.061405429f * t - 1.453152027f) * t + 1.421413741f) * t - 0.284496736f) * t + 0.254829592f) * t;
  let y = 1f - p * exp(-a * a);
  return select(y, -y, x < 0f);
}

var<workgroup> staged: array<array<vec4f, 9>, 64>;

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

fn bits_of_distance(i0: i32) -> u32 {
  let at = P.captured_distance_base + u32(clamp(i0, 0i, P.captured_distance_last0)) * P.captured_distance_stride0;
  return bitcast<u32>(read_captured_distance(at));
}

fn capture_distance(i0: i32) -> f32 {
  let x = bitcast<f32>(bits_of_distance(i0));
  return select(x, -0x1.fffffep+127f, is_negative_infinity(x));
}

fn score_mod(score: f32, b: i32, h: i32, q: i32, kv: i32) -> f32 {
  return (score + capture_distance(((q - kv) + 128i)));
}

fn score_mod_masks(score: f32, b: i32, h: i32, q: i32, kv: i32) -> bool {
  return (bits_of_distance(((q - kv) + 128i)) == 0xff800000u);
}

struct Score4 {
  value: vec4f,
  slope: vec4f,
  visible: vec4<bool>,
  unmodified: vec4f,
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
  let unmodified = s;
  for (var c = 0u; c < 4u; c++) {
    s[c] = score_mod(unmodified[c], i32(seq.b), i32(h), i32(i), i32(j + c));
    slope[c] = 1.0;
    let masked = score_mod_masks(unmodified[c], i32(seq.b), i32(h), i32(i), i32(j + c));
    visible[c] = visible[c] && !(masked || is_negative_infinity(s[c]));
  }
  return Score4(s, slope, visible, unmodified);
}

var<workgroup> shared_sequence: Sequence;

fn load0_derivative(score: f32, b: i32, h: i32, q: i32, kv: i32) -> f32 {
  return 1f;
}

fn load0_index0(score: f32, b: i32, h: i32, q: i32, kv: i32) -> i32 {
  return ((q - kv) + 128i);
}

fn load0_element(score: f32, b: i32, h: i32, q: i32, kv: i32) -> u32 {
  var at = 0u;
  at = at * (u32(P.captured_distance_last0) + 1u) + u32(clamp(load0_index0(score, b, h, q, kv), 0i, P.captured_distance_last0));
  return P.captured_distance_table + at;
}

const nowhere = 0xffffffffu;
var<workgroup> pair_values: array<vec4f, 64>;
var<workgroup> pair_elements: array<vec4u, 64>;

fn add_vector(table: u32, vector: u32, sum: vec2f) {
  if (vector != nowhere) {
    partial_sums[table + vector] += sum;
  }
}

// Consecutive pairs of the same table vector are summed before they are added, so that sums stay short.
fn add_pair(table: u32, element: u32, value: f32, vector: ptr<function, u32>, sum: ptr<function, vec2f>) {
  if (element / 2u != *vector) {
    add_vector(table, *vector, *sum);
    *vector = element / 2u;
    *sum = vec2f();
  }
  *sum += select(vec2f(value, 0.0), vec2f(0.0, value), element % 2u == 1u);
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

  let tx = lane % 8u;
  let ty = lane / 8u;
  let tables = P.partial_sums_base + group * P.group_vectors;
  let table = tables + lane / 4u * P.table_vectors;
  for (var n = lane % 4u; n < P.table_vectors; n += 4u) {
    partial_sums[table + n] = vec2f();
  }
  for (var strip = group; strip < P.strips; strip += P.groups) {
    let i0 = (strip % P.tiles) * 32u;
    let h = (strip / P.tiles) % P.Hq;
    let h_k = h / P.group_k;
    let h_v = h / P.group_v;
    if (lane == 0u) {
      shared_sequence = sequence_at(strip / (P.tiles * P.Hq));
    }
    let seq = workgroupUniformLoad(&shared_sequence);
    let keys = key_range(seq, i0, i0 + 32u);
    // (lse, δ) of each row
    let i = i0 + ty * 4u;
    var row_rows = array(vec2f(3e38, 0.0), vec2f(3e38, 0.0), vec2f(3e38, 0.0), vec2f(3e38, 0.0));
    for (var r = 0u; r < 4u; r++) {
      if (i + r < seq.length_q) {
        row_rows[r] = workspace[P.workspace_base + row_at(seq, h, i + r)];
      }
    }

    for (var j0 = keys.x / 32u * 32u; j0 < keys.y; j0 += 32u) {
      // S = Q·Kᵀ, dP = dO·Vᵀ
      let full_tile = tile_inside(seq, i0, i0 + 32u, j0, j0 + 32u);
      var s0 = vec4f();
      var s1 = vec4f();
      var s2 = vec4f();
      var s3 = vec4f();
      var dp0 = vec4f();
      var dp1 = vec4f();
      var dp2 = vec4f();
      var dp3 = vec4f();
      for (var product = 0u; product < 2u; product++) {
        // Stage and multiply chunks of channels.
        let channels = select(P.Dqk, P.Dv, product == 1u);
        var sum0 = vec4f();
        var sum1 = vec4f();
        var sum2 = vec4f();
        var sum3 = vec4f();
        for (var d0 = 0u; d0 < channels; d0 += 32u) {
          workgroupBarrier();
          for (var n = lane; n < 256u; n += 64u) {
            let r = n / 8u;
            let s = i0 + r;
            let d = d0 + 4u * (n % 8u);
            var x = vec4f();
            if (product == 0u) {
              if (s < seq.length_q && d < channels) {
                x = q_load4(q_row(seq, h, s), d);
              }
            } else {
              if (s < seq.length_q && d < channels) {
                x = dO_load4(dO_row(seq, h, s), d);
              }
            }
            staged[0u + n % 32u][n / 32u] = x;
          }
          for (var n = lane; n < 256u; n += 64u) {
            let r = n / 8u;
            let s = j0 + r;
            let d = d0 + 4u * (n % 8u);
            var x = vec4f();
            if (product == 0u) {
              if (s < seq.length_kv && d < channels) {
                x = k_load4(k_row(seq, h_k, s), d);
              }
            } else {
              if (s < seq.length_kv && d < channels) {
                x = v_load4(v_row(seq, h_v, s), d);
              }
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
            sum0 += vec4f(dot(a0, b0), dot(a0, b1), dot(a0, b2), dot(a0, b3));
            sum1 += vec4f(dot(a1, b0), dot(a1, b1), dot(a1, b2), dot(a1, b3));
            sum2 += vec4f(dot(a2, b0), dot(a2, b1), dot(a2, b2), dot(a2, b3));
            sum3 += vec4f(dot(a3, b0), dot(a3, b1), dot(a3, b2), dot(a3, b3));
          }
        }
        if (product == 0u) {
          s0 = sum0;
          s1 = sum1;
          s2 = sum2;
          s3 = sum3;
        } else {
          dp0 = sum0;
          dp1 = sum1;
          dp2 = sum2;
          dp3 = sum3;
        }
      }

      // P = e^(S − lse), dS = P ∘ (dP − δ) ∘ slope
      let j = j0 + tx * 4u;
      var s_vectors = array(s0, s1, s2, s3);
      var dp_vectors = array(dp0, dp1, dp2, dp3);
      var ds_vectors = array<vec4f, 4>();
      var unmodified_vectors = array<vec4f, 4>();
      for (var b = 0u; b < 4u; b++) {
        let scored = score4(seq, h, i + b, j, s_vectors[b], full_tile);
        let p = probabilities(scored.value, row_rows[b].x, scored.visible);
        unmodified_vectors[b] = scored.unmodified;
        let df = select(vec4f(), p * (dp_vectors[b] - row_rows[b].y), scored.visible);
        ds_vectors[b] = select(vec4f(), df * scored.slope, scored.visible);
      }

      {
        var vector = nowhere;
        var sum = vec2f();
        for (var b = 0u; b < 4u; b++) {
          let i = i + b;
          let j = j;
          let ds = ds_vectors[b];
          let unmodified = unmodified_vectors[b];
          var values = vec4f();
          var elements = vec4u(nowhere);
          for (var c = 0u; c < 4u; c++) {
            let derivative = load0_derivative(unmodified[c], i32(seq.b), i32(h), i32(i), i32(j + c));
            // The derivative may be NaN for a masked pair. On Vulkan, != would be false for a NaN.
            if (!(ds[c] == 0.0 || derivative == 0.0)) {
              values[c] = ds[c] * derivative;
              elements[c] = load0_element(unmodified[c], i32(seq.b), i32(h), i32(i), i32(j + c));
            }
          }
          workgroupBarrier();
          pair_values[lane] = values;
          pair_elements[lane] = elements;
          workgroupBarrier();
          // The pairs of the lanes that share this table.
          for (var n = lane / 4u * 4u; n < (lane / 4u + 1u) * 4u; n++) {
            for (var c = 0u; c < 4u; c++) {
              let element = pair_elements[n][c];
              if (element != nowhere && element / 2u % 4u == lane % 4u) {
                add_pair(table, element, pair_values[n][c], &vector, &sum);
              }
            }
          }
        }
        add_vector(table, vector, sum);
      }
    }
  }
  // Add the tables of the workgroup to the first.
  storageBarrier();
  for (var n = lane; n < P.table_vectors; n += 64u) {
    var sum = vec2f();
    for (var at = n; at < P.group_vectors; at += P.table_vectors) {
      sum += partial_sums[tables + at];
    }
    partial_sums[tables + n] = sum;
  }
}

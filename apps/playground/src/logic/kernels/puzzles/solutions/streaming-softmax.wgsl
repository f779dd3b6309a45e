const LANES = 64u;
var<workgroup> part: array<vec2f, LANES>;

// Two states of (maximum, sum) as one.
fn merge(a: vec2f, b: vec2f) -> vec2f {
  let m = max(a.x, b.x);
  return vec2f(m, a.y * exp(a.x - m) + b.y * exp(b.x - m));
}

@compute @workgroup_size(LANES)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) lane: u32) {
  let row = group.x * sizes.n;
  var state = vec2f(-3.0e38, 0.0);
  for (var j = lane; j < sizes.n; j += LANES) {
    state = merge(state, vec2f(x[row + j], 1.0));
  }
  part[lane] = state;
  workgroupBarrier();
  for (var half = LANES / 2u; half > 0u; half /= 2u) {
    if (lane < half) { part[lane] = merge(part[lane], part[lane + half]); }
    workgroupBarrier();
  }
  state = part[0];
  for (var j = lane; j < sizes.n; j += LANES) {
    y[row + j] = exp(x[row + j] - state.x) / state.y;
  }
}

// One workgroup of 64 lanes computes one row of y.
const LANES = 64u;
var<workgroup> part: array<vec2f, LANES>;

// Two states of (maximum, sum) as one.
fn merge(a: vec2f, b: vec2f) -> vec2f {
  // Yours: when the maximum rises, the sum shrinks.
  return vec2f(max(a.x, b.x), a.y + b.y);
}

@compute @workgroup_size(LANES)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) lane: u32) {
  let row = group.x * sizes.n;
  var state = vec2f(-3.0e38, 0.0);
  for (var j = lane; j < sizes.n; j += LANES) {
    state = merge(state, vec2f(x[row + j], 1.0));
  }
  // Yours: the state of all lanes, through part.
  for (var j = lane; j < sizes.n; j += LANES) {
    y[row + j] = exp(x[row + j] - state.x) / state.y;
  }
}

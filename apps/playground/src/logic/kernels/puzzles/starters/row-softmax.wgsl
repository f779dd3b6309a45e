// One workgroup of 64 lanes computes one row of y.
const LANES = 64u;
var<workgroup> part: array<f32, LANES>;

@compute @workgroup_size(LANES)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) lane: u32) {
  let row = group.x * sizes.n;
  // The maximum of every 64th number of the row.
  var m = -3.0e38;
  for (var j = lane; j < sizes.n; j += LANES) {
    m = max(m, x[row + j]);
  }
  // Yours: the maximum of all lanes, through part.
  // Then the sum of exp(x - m) in the same way.
  var l = 1.0;
  for (var j = lane; j < sizes.n; j += LANES) {
    y[row + j] = exp(x[row + j] - m) / l;
  }
}

const LANES = 64u;
var<workgroup> part: array<f32, LANES>;

@compute @workgroup_size(LANES)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) lane: u32) {
  let row = group.x * sizes.n;
  var m = -3.0e38;
  for (var j = lane; j < sizes.n; j += LANES) {
    m = max(m, x[row + j]);
  }
  part[lane] = m;
  workgroupBarrier();
  for (var half = LANES / 2u; half > 0u; half /= 2u) {
    if (lane < half) { part[lane] = max(part[lane], part[lane + half]); }
    workgroupBarrier();
  }
  m = part[0];
  workgroupBarrier();

  var l = 0.0;
  for (var j = lane; j < sizes.n; j += LANES) {
    l += exp(x[row + j] - m);
  }
  part[lane] = l;
  workgroupBarrier();
  for (var half = LANES / 2u; half > 0u; half /= 2u) {
    if (lane < half) { part[lane] += part[lane + half]; }
    workgroupBarrier();
  }
  l = part[0];

  for (var j = lane; j < sizes.n; j += LANES) {
    y[row + j] = exp(x[row + j] - m) / l;
  }
}

@compute @workgroup_size(TILE)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let i = id.x;
  if (i >= sizes.n) { return; }
  var dq_i = array<f32, D>();
  for (var j = 0u; j < sizes.n; j++) {
    var s = 0.0;
    var dp = 0.0;
    for (var c = 0u; c < D; c++) {
      s += q[i * D + c] * k[j * D + c];
      dp += dO[i * D + c] * v[j * D + c];
    }
    let ds = exp(s * sizes.scale - stats[i].x) * (dp - stats[i].y);
    for (var c = 0u; c < D; c++) {
      dq_i[c] += ds * k[j * D + c];
    }
  }
  for (var c = 0u; c < D; c++) {
    dq[i * D + c] = dq_i[c] * sizes.scale;
  }
}

@compute @workgroup_size(TILE)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let j = id.x;
  if (j >= sizes.n) { return; }
  var dk_j = array<f32, D>();
  var dv_j = array<f32, D>();
  for (var i = 0u; i < sizes.n; i++) {
    var s = 0.0;
    var dp = 0.0;
    for (var c = 0u; c < D; c++) {
      s += q[i * D + c] * k[j * D + c];
      dp += dO[i * D + c] * v[j * D + c];
    }
    let p = exp(s * sizes.scale - stats[i].x);
    let ds = p * (dp - stats[i].y);
    for (var c = 0u; c < D; c++) {
      dk_j[c] += ds * q[i * D + c];
      dv_j[c] += p * dO[i * D + c];
    }
  }
  for (var c = 0u; c < D; c++) {
    dk[j * D + c] = dk_j[c] * sizes.scale;
    dv[j * D + c] = dv_j[c];
  }
}

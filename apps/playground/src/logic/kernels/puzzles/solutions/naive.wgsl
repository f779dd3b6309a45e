fn score(i: u32, j: u32) -> f32 {
  var s = 0.0;
  for (var c = 0u; c < D; c++) {
    s += q[i * D + c] * k[j * D + c];
  }
  return s * sizes.scale;
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let i = id.x;
  if (i >= sizes.n) { return; }
  var m = score(i, 0u);
  for (var j = 1u; j < sizes.n; j++) {
    m = max(m, score(i, j));
  }
  var l = 0.0;
  var o_i = array<f32, D>();
  for (var j = 0u; j < sizes.n; j++) {
    let p = exp(score(i, j) - m);
    l += p;
    for (var c = 0u; c < D; c++) {
      o_i[c] += p * v[j * D + c];
    }
  }
  for (var c = 0u; c < D; c++) {
    o[i * D + c] = o_i[c] / l;
  }
}

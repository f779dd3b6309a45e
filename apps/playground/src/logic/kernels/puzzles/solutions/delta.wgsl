@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let i = id.x;
  if (i >= sizes.n) { return; }
  var sum = 0.0;
  for (var c = 0u; c < D; c++) {
    sum += dO[i * D + c] * o[i * D + c];
  }
  delta[i] = sum;
}

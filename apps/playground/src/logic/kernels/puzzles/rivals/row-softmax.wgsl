@compute @workgroup_size(1)
fn main(@builtin(workgroup_id) group: vec3u) {
  let row = group.x * sizes.n;
  var m = x[row];
  for (var j = 1u; j < sizes.n; j++) {
    m = max(m, x[row + j]);
  }
  var l = 0.0;
  for (var j = 0u; j < sizes.n; j++) {
    l += exp(x[row + j] - m);
  }
  for (var j = 0u; j < sizes.n; j++) {
    y[row + j] = exp(x[row + j] - m) / l;
  }
}

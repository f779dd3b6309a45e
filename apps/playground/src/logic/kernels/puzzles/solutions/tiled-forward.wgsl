var<workgroup> k_tile: array<f32, TILE * D>;
var<workgroup> v_tile: array<f32, TILE * D>;

fn load_tile(first: u32, lane: u32) {
  for (var e = lane; e < TILE * D; e += TILE) {
    if (first * D + e < sizes.n * D) {
      k_tile[e] = k[first * D + e];
      v_tile[e] = v[first * D + e];
    }
  }
}

@compute @workgroup_size(TILE)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) lane: u32) {
  let i = group.x * TILE + lane;
  var q_i = array<f32, D>();
  for (var c = 0u; c < D && i < sizes.n; c++) {
    q_i[c] = q[i * D + c];
  }
  var m = -3.0e38;
  var l = 0.0;
  var o_i = array<f32, D>();
  for (var first = 0u; first < sizes.n; first += TILE) {
    workgroupBarrier(); // The tile before has been used.
    load_tile(first, lane);
    workgroupBarrier(); // This tile is there.
    let keys = min(TILE, sizes.n - first);
    for (var j = 0u; j < keys; j++) {
      var s = 0.0;
      for (var c = 0u; c < D; c++) {
        s += q_i[c] * k_tile[j * D + c];
      }
      s *= sizes.scale;
      let m_new = max(m, s);
      let factor = exp(m - m_new);
      let p = exp(s - m_new);
      l = l * factor + p;
      for (var c = 0u; c < D; c++) {
        o_i[c] = o_i[c] * factor + p * v_tile[j * D + c];
      }
      m = m_new;
    }
  }
  if (i >= sizes.n) { return; }
  for (var c = 0u; c < D; c++) {
    o[i * D + c] = o_i[c] / l;
  }
  lse[i] = m + log(l);
}

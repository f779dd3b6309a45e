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
  var dO_i = array<f32, D>();
  var row = vec2f();
  if (i < sizes.n) {
    row = stats[i];
    for (var c = 0u; c < D; c++) {
      q_i[c] = q[i * D + c];
      dO_i[c] = dO[i * D + c];
    }
  }
  var dq_i = array<f32, D>();
  for (var first = 0u; first < sizes.n; first += TILE) {
    workgroupBarrier();
    load_tile(first, lane);
    workgroupBarrier();
    let keys = min(TILE, sizes.n - first);
    for (var j = 0u; j < keys; j++) {
      var s = 0.0;
      var dp = 0.0;
      for (var c = 0u; c < D; c++) {
        s += q_i[c] * k_tile[j * D + c];
        dp += dO_i[c] * v_tile[j * D + c];
      }
      let p = exp(s * sizes.scale - row.x);
      let ds = p * (dp - row.y);
      for (var c = 0u; c < D; c++) {
        dq_i[c] += ds * k_tile[j * D + c];
      }
    }
  }
  if (i >= sizes.n) { return; }
  for (var c = 0u; c < D; c++) {
    dq[i * D + c] = dq_i[c] * sizes.scale;
  }
}

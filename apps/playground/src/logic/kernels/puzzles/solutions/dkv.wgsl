var<workgroup> q_tile: array<f32, TILE * D>;
var<workgroup> dO_tile: array<f32, TILE * D>;
var<workgroup> stats_tile: array<vec2f, TILE>;

fn load_tile(first: u32, lane: u32) {
  for (var e = lane; e < TILE * D; e += TILE) {
    if (first * D + e < sizes.n * D) {
      q_tile[e] = q[first * D + e];
      dO_tile[e] = dO[first * D + e];
    }
  }
  if (first + lane < sizes.n) { stats_tile[lane] = stats[first + lane]; }
}

@compute @workgroup_size(TILE)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) lane: u32) {
  let j = group.x * TILE + lane;
  var k_j = array<f32, D>();
  var v_j = array<f32, D>();
  for (var c = 0u; c < D && j < sizes.n; c++) {
    k_j[c] = k[j * D + c];
    v_j[c] = v[j * D + c];
  }
  var dk_j = array<f32, D>();
  var dv_j = array<f32, D>();
  for (var first = 0u; first < sizes.n; first += TILE) {
    workgroupBarrier();
    load_tile(first, lane);
    workgroupBarrier();
    let queries = min(TILE, sizes.n - first);
    for (var i = 0u; i < queries; i++) {
      var s = 0.0;
      var dp = 0.0;
      for (var c = 0u; c < D; c++) {
        s += q_tile[i * D + c] * k_j[c];
        dp += dO_tile[i * D + c] * v_j[c];
      }
      let p = exp(s * sizes.scale - stats_tile[i].x);
      let ds = p * (dp - stats_tile[i].y);
      for (var c = 0u; c < D; c++) {
        dk_j[c] += ds * q_tile[i * D + c];
        dv_j[c] += p * dO_tile[i * D + c];
      }
    }
  }
  if (j >= sizes.n) { return; }
  for (var c = 0u; c < D; c++) {
    dk[j * D + c] = dk_j[c] * sizes.scale;
    dv[j * D + c] = dv_j[c];
  }
}

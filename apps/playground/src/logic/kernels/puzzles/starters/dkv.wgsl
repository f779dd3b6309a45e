// One workgroup computes a tile of dk and dv, one key for each lane.
var<workgroup> q_tile: array<f32, TILE * D>;
var<workgroup> dO_tile: array<f32, TILE * D>;
var<workgroup> stats_tile: array<vec2f, TILE>;

@compute @workgroup_size(TILE)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) lane: u32) {
  let j = group.x * TILE + lane;
  var dk_j = array<f32, D>();
  var dv_j = array<f32, D>();
  // Yours: the loop over tiles of queries.
  if (j >= sizes.n) { return; }
  for (var c = 0u; c < D; c++) {
    dk[j * D + c] = dk_j[c] * sizes.scale;
    dv[j * D + c] = dv_j[c];
  }
}

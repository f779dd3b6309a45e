// One workgroup computes a tile of dq, one query for each lane.
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
  // stats[i].x is the lse of query i, stats[i].y its delta.
  var dq_i = array<f32, D>();
  // Yours: the loop over tiles of keys.
  if (i >= sizes.n) { return; }
  for (var c = 0u; c < D; c++) {
    dq[i * D + c] = dq_i[c] * sizes.scale;
  }
}

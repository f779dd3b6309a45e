// One workgroup computes a tile of queries, one for each lane.
var<workgroup> k_tile: array<f32, TILE * D>;
var<workgroup> v_tile: array<f32, TILE * D>;

fn load_tile(first: u32, lane: u32) {
  // Yours: the lanes load TILE rows of k and v together.
}

@compute @workgroup_size(TILE)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) lane: u32) {
  let i = group.x * TILE + lane;
  var m = -3.0e38;
  var l = 0.0;
  var o_i = array<f32, D>();
  for (var first = 0u; first < sizes.n; first += TILE) {
    load_tile(first, lane);
    // Yours: each key of the tile changes m, l and o_i.
  }
  if (i >= sizes.n) { return; }
  for (var c = 0u; c < D; c++) {
    o[i * D + c] = o_i[c] / l;
  }
  lse[i] = m + log(l);
}

// One invocation computes one number of delta.
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let i = id.x;
  if (i >= sizes.n) { return; }
  // Yours.
}

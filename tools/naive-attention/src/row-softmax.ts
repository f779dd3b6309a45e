const lanes = 64;

/** Gives every lane the combination, by `combine`, of the values that all lanes have in `mine`. */
const acrossLanes = (name: string, combine: string): string => `
fn ${name}(mine: f32, lane: u32) -> f32 {
  shared_values[lane] = mine;
  workgroupBarrier();
  for (var half = ${lanes / 2}u; half > 0u; half /= 2u) {
    if (lane < half) {
      let x = shared_values[lane];
      let y = shared_values[lane + half];
      shared_values[lane] = ${combine};
    }
    workgroupBarrier();
  }
  let result = shared_values[0];
  workgroupBarrier();
  return result;
}`;

/**
 * A workgroup per row of S floats: rows of a head in x, heads in y. `end` is one more than the last key that
 * the row sees.
 */
const rowShader = (S: number, causal: boolean, declarations: string, body: string): string => `
${declarations}
var<workgroup> shared_values: array<f32, ${lanes}>;
${acrossLanes('sum_of', 'x + y')}
${acrossLanes('max_of', 'max(x, y)')}

@compute @workgroup_size(${lanes})
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
  let base = (group.y * ${S}u + group.x) * ${S}u;
  let end = ${causal ? 'group.x + 1u' : `${S}u`};
${body}
}
`;

/** Softmax of each row in place; keys that the row does not see become 0. Binding: scores. */
export function softmaxShader(S: number, causal: boolean): string {
  return rowShader(
    S,
    causal,
    '@group(0) @binding(0) var<storage, read_write> scores: array<f32>;',
    `
  var largest = -3.0e38;
  for (var j = lane; j < end; j += ${lanes}u) {
    largest = max(largest, scores[base + j]);
  }
  largest = max_of(largest, lane);
  var sum = 0.0;
  for (var j = lane; j < end; j += ${lanes}u) {
    sum += exp(scores[base + j] - largest);
  }
  sum = sum_of(sum, lane);
  for (var j = lane; j < ${S}u; j += ${lanes}u) {
    scores[base + j] = select(0.0, exp(scores[base + j] - largest) / sum, j < end);
  }`,
  );
}

/** ds = p∘(dp − Σ p∘dp) of each row, in place of dp. Bindings: p, dp. */
export function softmaxGradientShader(S: number, causal: boolean): string {
  return rowShader(
    S,
    causal,
    `@group(0) @binding(0) var<storage, read> p: array<f32>;
@group(0) @binding(1) var<storage, read_write> dp: array<f32>;`,
    `
  var delta = 0.0;
  for (var j = lane; j < end; j += ${lanes}u) {
    delta += p[base + j] * dp[base + j];
  }
  delta = sum_of(delta, lane);
  for (var j = lane; j < ${S}u; j += ${lanes}u) {
    dp[base + j] = select(0.0, p[base + j] * (dp[base + j] - delta), j < end);
  }`,
  );
}

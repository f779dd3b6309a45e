import type { Tensor } from '@tilewise/core';
import { toOnnx } from '@tilewise/graph/onnx';
import * as ops from '@tilewise/graph/ops';
import { type DecoderSizes, NORM_EPSILON, ROPE_BASE } from './decoder-case.ts';

/** The names of one layer's key and value inputs and outputs, as exporters of decoders name them. */
const cacheNames = (layer: number): readonly [string, string] => [`k.${layer}`, `v.${layer}`];

/**
 * A Llama as an ONNX model with its weights inside, as decoders are exported for onnxruntime: the keys and
 * values of earlier tokens are inputs, and those of all tokens are outputs. Written without `@tilewise/nn`.
 * @param weights f32, by their published names.
 * @param past the number of earlier tokens; 0 for a model that reads a prompt.
 * @param added the number of tokens to read.
 */
export function onnxDecoder(
  sizes: DecoderSizes,
  weights: ReadonlyMap<string, Tensor>,
  { past, added }: { readonly past: number; readonly added: number },
): Uint8Array {
  const { dim, layers, heads, kvHeads } = sizes;
  const D = dim / heads;
  const caches = Array.from({ length: layers }, (_, n) => cacheNames(n)).flat();
  const specs: Record<string, ops.Spec> = {
    tokens: { shape: [1, added], dtype: 'i32' },
    cos: [added, D / 2],
    sin: [added, D / 2],
    ...Object.fromEntries([...weights].map(([name, { shape }]) => [name, shape])),
    ...(past > 0 && Object.fromEntries(caches.map(name => [`past.${name}`, [1, kvHeads, past, D]]))),
  };
  const decoder = (given: Readonly<Record<string, ops.Variable>>): ops.Variable[] => {
    const results: ops.Variable[] = [];
    const linear = (x: ops.Variable, name: string): ops.Variable =>
      ops.matmul(x, given[`${name}.weight`], { transposeB: true });
    const norm = (x: ops.Variable, name: string): ops.Variable =>
      ops.rmsNorm(x, given[`${name}.weight`], { epsilon: NORM_EPSILON });
    const split = (x: ops.Variable, count: number): ops.Variable =>
      ops.transpose(ops.reshape(x, [1, added, count, D]), [0, 2, 1, 3]);
    const rotated = (x: ops.Variable): ops.Variable => ops.rotaryEmbedding(x, given.cos, given.sin);
    const withPast = (x: ops.Variable, name: string): ops.Variable =>
      past > 0 ? ops.concat([given[`past.${name}`], x], { axis: 2 }) : x;
    let x = ops.gather(given['model.embed_tokens.weight'], given.tokens);
    for (let n = 0; n < layers; n++) {
      const layer = `model.layers.${n}`;
      const [kName, vName] = cacheNames(n);
      const h = norm(x, `${layer}.input_layernorm`);
      const q = rotated(split(linear(h, `${layer}.self_attn.q_proj`), heads));
      const k = withPast(rotated(split(linear(h, `${layer}.self_attn.k_proj`), kvHeads)), kName);
      const v = withPast(split(linear(h, `${layer}.self_attn.v_proj`), kvHeads), vName);
      results.push(k, v);
      // One new token sees all keys.
      const o = ops.attention(q, k, v, { causal: past === 0 });
      const rows = ops.reshape(ops.transpose(o, [0, 2, 1, 3]), [1, added, dim]);
      x = ops.add(x, linear(rows, `${layer}.self_attn.o_proj`));
      const f = norm(x, `${layer}.post_attention_layernorm`);
      const gated = ops.multiply(
        ops.silu(linear(f, `${layer}.mlp.gate_proj`)),
        linear(f, `${layer}.mlp.up_proj`),
      );
      x = ops.add(x, linear(gated, `${layer}.mlp.down_proj`));
    }
    const last = ops.slice(norm(x, 'model.norm'), { axis: 1, start: added - 1, size: 1 });
    return [linear(last, 'model.embed_tokens'), ...results];
  };
  const { graph, inputs, results } = ops.traceGraph(decoder, specs);
  const held = Object.entries(inputs).flatMap(([name, { id }]) => {
    const weight = weights.get(name);
    return weight ? [[id, weight] as const] : [];
  });
  const names = [...Object.entries(inputs).map(([name, { id }]) => [id, name] as const)];
  const outputNames = ['logits', ...caches.map(name => `present.${name}`)];
  results.forEach(({ id }, n) => {
    names.push([id, outputNames[n]]);
  });
  return toOnnx(graph, { values: Object.fromEntries(held), names: Object.fromEntries(names) });
}

/** Cosines and sines of the positions from `first` on. */
export function rotaryTables(
  { dim, heads }: DecoderSizes,
  first: number,
  count: number,
): { readonly cos: Float32Array; readonly sin: Float32Array; readonly shape: readonly number[] } {
  const pairs = dim / heads / 2;
  const of = (f: (angle: number) => number): Float32Array =>
    Float32Array.from({ length: count * pairs }, (_, n) =>
      f((first + Math.floor(n / pairs)) * ROPE_BASE ** (-(n % pairs) / pairs)),
    );
  return { cos: of(Math.cos), sin: of(Math.sin), shape: [count, pairs] };
}

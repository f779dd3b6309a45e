import type { Attributes } from '../../../../ir/schema/attribute.ts';
import type { LogicalTensor } from '../../../../ir/tensor/logical-tensor.ts';
import { shapeOf } from '../../../../ir/tensor/shape.ts';
import { type NodeCall, type OnnxOperator, result } from '../node-call.ts';
import { once } from '../once.ts';
import type { Value } from '../value.ts';
import { appendedToCache, attend, withHeads, withoutHeads } from './attention/attention.ts';
import { groupQueryAttention, noScores, refuseExtras } from './attention/group-query-attention.ts';
import { rotated } from './attention/rotary-embedding.ts';
import { swish } from './elementwise/activations.ts';
import { gemm } from './products/products.ts';
import { layerNorm } from './reductions/reductions.ts';

/** A tensor plus the bias in input n, if the node has one. */
function withBias(call: NodeCall, tensor: LogicalTensor, n: number): LogicalTensor {
  const bias = call.optional(n);
  return bias ? call.draft.op('Add', [tensor, bias.tensor()]) : tensor;
}

/** The norm of the sum of x, a skip connection and a bias; the sum itself is the fourth result. */
function skipNorm(norm: (call: NodeCall, sum: LogicalTensor) => LogicalTensor, biasAt: number): OnnxOperator {
  return call => {
    const x = call.input(0);
    const { draft } = call;
    const sum = once(() => withBias(call, draft.op('Add', [x.tensor(), call.input(1).tensor()]), biasAt));
    const none = (): never => call.refuse('has a mean and a variance as outputs, which are not supported');
    return [result(x, () => norm(call, sum())), result(x, none), result(x, none), result(x, sum)];
  };
}

const rmsNorm = (call: NodeCall, sum: LogicalTensor): LogicalTensor =>
  call.draft.op('RMSNorm', [sum, call.input(2).tensor()], {
    begin_norm_axis: shapeOf(sum).length - 1,
    epsilon: call.float('epsilon', 1e-12),
  });

const centredNorm = (call: NodeCall, sum: LogicalTensor): LogicalTensor =>
  layerNorm(call, sum, {
    gamma: call.input(2).tensor(),
    beta: call.optional(3)?.tensor() ?? null,
    axis: shapeOf(sum).length - 1,
    epsilon: call.float('epsilon', 1e-12),
  }).y;

const biasGelu: OnnxOperator = call => {
  const x = call.input(0);
  const { draft } = call;
  const mode = call.node.op === 'FastGelu' ? 'gelu_tanh' : 'gelu_erf';
  return result(x, () => draft.op('GELU', [withBias(call, x.tensor(), 1)], { mode }));
};

/** Adds the bias (H·D) of the projections before attention to (B, S, H·D). */
function biased(call: NodeCall, value: Value, from: number, width: number): LogicalTensor {
  const bias = call.optional(3);
  const x = value.tensor();
  if (!bias || value.shape.length !== 3) return x;
  return call.draft.op('Add', [x, call.draft.slice(bias.tensor(), { axis: 0, start: from, size: width })]);
}

const multiHeadAttention: OnnxOperator = call => {
  refuseExtras(call, 8, ['past_sequence_length', 'cache_indirection']);
  const [q, k, v] = [call.input(0), call.input(1), call.input(2)];
  if (q.shape.length !== 3) call.refuse('has q, k and v in one tensor; only separate ones are supported');
  const heads = call.int('num_heads', 0) || call.fail("needs 'num_heads'");
  const [B = 1, Sq = 1, width = 1] = q.shape;
  const past = call.optional(6)?.shape[2] ?? 0;
  const fresh = k.shape.at(-2) ?? 0;
  // A single query is the last one, which sees all keys.
  const isCausal = call.flag('unidirectional', false) && Sq > 1;
  if (isCausal && Sq !== fresh)
    call.refuse(
      `is unidirectional with ${Sq} queries and ${fresh} new keys: only equal numbers are supported`,
    );
  const Dqk = width / heads;
  const valueWidth = v.shape.length === 3 ? (v.shape[2] ?? 1) : heads * (v.shape[3] ?? 1);
  const Skv = past + fresh;
  const headsOf = (value: Value, from: number): LogicalTensor =>
    withHeads(call, biased(call, value, from, value.shape.at(-1) ?? 0), heads);
  const keys = (): LogicalTensor => appendedToCache(call, headsOf(k, width), 6);
  const values = (): LogicalTensor => appendedToCache(call, headsOf(v, 2 * width), 7);
  const attended = result({ type: q.type, shape: [B, Sq, valueWidth] }, () => {
    const seqLensKv = keyLengths(call, 4, B);
    // Query i belongs to key past + i, whatever the lengths are; 'bottom-right' would align with the lengths.
    const band = seqLensKv || past === 0 ? (['top-left', past] as const) : (['bottom-right', 0] as const);
    const o = attend(call, {
      q: headsOf(q, 0),
      k: keys(),
      v: values(),
      mask: call.optional(5)?.tensor(),
      seqLensKv,
      scale: call.float('scale', 0) || 1 / Math.sqrt(Dqk),
      ...(isCausal && { align: band[0], right: band[1] }),
    });
    return withoutHeads(call, o);
  });
  return [
    attended,
    result({ type: k.type, shape: [B, heads, Skv, Dqk] }, keys),
    result({ type: v.type, shape: [B, heads, Skv, valueWidth / heads] }, values),
    noScores(call, q, [B, heads, Sq, Skv]),
  ];
};

/** The lengths of the keys, if the mask has one number per batch entry. */
function keyLengths(call: NodeCall, n: number, B: number): LogicalTensor | undefined {
  const mask = call.optional(n);
  if (!mask) return undefined;
  if (mask.shape.length === 1 && mask.shape[0] === B) return mask.tensor();
  return call.refuse(
    `has a key mask of shape [${mask.shape}]; lengths [${B}] or a bias of the scores are supported`,
  );
}

/**
 * com.microsoft's rotary embedding. The inputs are x, the positions (one first position, or (B, S)), and the
 * caches.
 */
const rotaryEmbedding: OnnxOperator = call => {
  if (call.int('is_packed_batching', 0) !== 0 || call.float('scale', 1) !== 1)
    call.refuse('is packed or scaled, which is not supported');
  const x = call.input(0);
  const { draft } = call;
  const cache = call.input(2);
  const pairs = cache.shape[1] ?? 1;
  const isFlat = x.shape.length === 3;
  const heads = call.int('num_heads', 0) || (x.shape.at(-1) ?? 0) / (2 * pairs);
  const [B = 1, S = 1] = isFlat ? x.shape : [x.shape[0], x.shape[2]];
  const table = (n: number): LogicalTensor => {
    const positions = call.input(1);
    if (positions.shape.length === 1) {
      const [first = 0] = call.numbers(1);
      const rows = draft.slice(call.input(n).tensor(), { axis: 0, start: first, size: S });
      return draft.reshape(rows, [1, 1, S, pairs]);
    }
    const rows = draft.op('Take', [call.input(n).tensor(), positions.tensor()], { axis: 0 });
    return draft.reshape(rows, [B, 1, S, pairs]);
  };
  return result(x, () => rotated(call, x.tensor(), heads, [table(2), table(3)]));
};

/**
 * x times a 4-bit or 8-bit matrix, which is stored as (N, groups, bytes) with a scale and a zero point per
 * group.
 */
const matMulNBits: OnnxOperator = call => {
  const [x, scales] = [call.input(0), call.input(2)];
  const [K, N] = [call.int('K', 0), call.int('N', 0)];
  const [bits, block] = [call.int('bits', 4), call.int('block_size', 32)];
  if (bits !== 4 && bits !== 8) call.refuse(`has weights of ${bits} bits; 4 and 8 are supported`);
  if (K < 1 || N < 1 || block < 1 || x.shape.at(-1) !== K)
    call.fail(`cannot multiply [${x.shape}] by ${K} × ${N}`);
  if (call.has(4)) call.refuse('has an order of groups (g_idx), which is not supported');
  const groups = Math.ceil(K / block);
  const { draft } = call;
  const weights = (): LogicalTensor => {
    const codes = call.numbers(1);
    const factor = call.numbers(2);
    const bytesOfGroup = (block * bits) / 8;
    if (codes.length !== N * groups * bytesOfGroup || factor.length !== N * groups)
      call.fail(
        `has ${codes.length} bytes and ${factor.length} scales for ${N} × ${groups} groups of ${block}`,
      );
    const nibble = (all: ArrayLike<number>, n: number): number => (all[n >> 1] >> (4 * (n & 1))) & 15;
    const points = call.optional(3);
    const zeros = points?.host?.().values;
    // 4-bit zero points are packed per row of groups, unless they are floats.
    const isPacked = bits === 4 && points?.type.kind !== 'float';
    const rowBytes = Math.ceil(groups / 2);
    const zero = (n: number, g: number): number => {
      if (!zeros) return bits === 4 ? 8 : 128;
      return isPacked ? nibble(zeros, 2 * n * rowBytes + g) : zeros[n * groups + g];
    };
    const values = new Float32Array(N * K);
    for (let n = 0; n < N; n++) {
      for (let g = 0; g < groups; g++) {
        const [center, scale] = [zero(n, g), factor[n * groups + g]];
        const first = (n * groups + g) * block;
        for (let k = g * block; k < Math.min(K, (g + 1) * block); k++) {
          const at = first + k - g * block;
          values[n * K + k] = ((bits === 8 ? codes[at] : nibble(codes, at)) - center) * scale;
        }
      }
    }
    return call.constant({ shape: [N, K], values }, scales.type);
  };
  return result({ type: x.type, shape: [...x.shape.slice(0, -1), N] }, () => {
    const matrices = [x.tensor(), draft.cast(weights(), x.tensor().dtype)];
    const product = draft.op('MatMul', matrices, { transpose_b: true });
    return withBias(call, product, 5);
  });
};

/** The activations that onnxruntime fuses with a product, which are names of ONNX operators. */
const activations = ['Relu', 'Sigmoid', 'Tanh', 'LeakyRelu', 'HardSigmoid', 'Elu', 'Softplus', 'Erf'];

/** A matrix product, and an activation of it. */
const fusedGemm: OnnxOperator = call => {
  const product = gemm(call);
  const name = call.text('activation', 'Relu');
  const kinds: Readonly<Record<string, string>> = {
    Relu: 'ReLU',
    LeakyRelu: 'LeakyReLU',
    Softplus: 'SoftPlus',
  };
  if (!activations.includes(name)) return call.refuse(`has the activation '${name}', which is not supported`);
  const [alpha, beta] = [call.float('activation_alpha', 0.01), call.float('activation_beta', 0.5)];
  const attributes: Readonly<Record<string, Attributes>> = {
    LeakyRelu: { alpha },
    Elu: { alpha },
    HardSigmoid: { alpha, beta },
  };
  return result(product, () => {
    const x = product.emit?.() ?? call.refuse('has no product');
    return call.draft.op(kinds[name] ?? name, [x], attributes[name] ?? {});
  });
};

/** com.microsoft operators in optimised transformers. */
export const microsoftOperators: Readonly<Record<string, OnnxOperator>> = {
  BiasGelu: biasGelu,
  FastGelu: biasGelu,
  FusedGemm: fusedGemm,
  Gelu: biasGelu,
  GroupQueryAttention: groupQueryAttention,
  MatMulNBits: matMulNBits,
  MultiHeadAttention: multiHeadAttention,
  QuickGelu: swish(1.702),
  RotaryEmbedding: rotaryEmbedding,
  SkipLayerNormalization: skipNorm(centredNorm, 4),
  SkipSimplifiedLayerNormalization: skipNorm(rmsNorm, 3),
};

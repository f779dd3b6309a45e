import type { Attributes } from '../../../../ir/schema/attribute.ts';
import type { LogicalTensor } from '../../../../ir/tensor/logical-tensor.ts';
import { shapeOf } from '../../../../ir/tensor/shape.ts';
import { type NodeCall, type OnnxOperator, result } from '../node-call.ts';
import { once } from '../once.ts';
import { groupQueryAttention } from './attention/group-query-attention.ts';
import { multiHeadAttention, selfAttention } from './attention/microsoft-attention.ts';
import { rotated } from './attention/rotary-embedding.ts';
import { swish } from './elementwise/activations.ts';
import { embedLayerNormalization } from './microsoft-embeddings.ts';
import { withBias } from './products/bias.ts';
import { matMulBnb4 } from './products/mat-mul-bnb4.ts';
import { gatherBlockQuantized, matMulNBits } from './products/mat-mul-n-bits.ts';
import { fusedMatMul, gemm } from './products/products.ts';
import { dynamicQuantizeMatMul, matMulIntegerToFloat } from './quantized/microsoft-products.ts';
import { layerNorm, rmsNormalization } from './reductions/reductions.ts';

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
  Attention: selfAttention,
  BiasGelu: biasGelu,
  DynamicQuantizeMatMul: dynamicQuantizeMatMul,
  EmbedLayerNormalization: embedLayerNormalization,
  FastGelu: biasGelu,
  FusedGemm: fusedGemm,
  FusedMatMul: fusedMatMul,
  GatherBlockQuantized: gatherBlockQuantized,
  Gelu: biasGelu,
  GroupQueryAttention: groupQueryAttention,
  MatMulBnb4: matMulBnb4,
  MatMulIntegerToFloat: matMulIntegerToFloat,
  MatMulNBits: matMulNBits,
  MultiHeadAttention: multiHeadAttention,
  QuickGelu: swish(1.702),
  RotaryEmbedding: rotaryEmbedding,
  SimplifiedLayerNormalization: rmsNormalization,
  SkipLayerNormalization: skipNorm(centredNorm, 4),
  SkipSimplifiedLayerNormalization: skipNorm(rmsNorm, 3),
};

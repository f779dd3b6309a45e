import { type NodeCall, type OnnxOperator, result } from '../../node-call.ts';
import { withBias } from './bias.ts';

/** A matrix in groups of quantized elements, which MatMulNBits multiplies by. */
interface QuantizedMatrix {
  readonly K: number;
  readonly N: number;
  readonly bits: 4 | 8;
  /** The number of elements in a group along K. */
  readonly block: number;
}

const nibble = (all: ArrayLike<number>, n: number): number => (all[n >> 1] >> (4 * (n & 1))) & 15;

/**
 * The elements (N, K) of a matrix, from its codes (N, groups, bytes), its scales in input 2 and its zero
 * points in input 3.
 * @param codesAt the input with the codes.
 */
function dequantized(call: NodeCall, { K, N, bits, block }: QuantizedMatrix, codesAt: number): Float32Array {
  const groups = Math.ceil(K / block);
  const codes = call.elements(codesAt);
  const factor = call.elements(2);
  const zeros = call.has(3) ? call.elements(3) : null;
  // 4-bit zero points are packed per row of groups, unless they are floats.
  const isPacked = bits === 4 && call.optional(3)?.type.kind !== 'float';
  const rowBytes = isPacked ? Math.ceil(groups / 2) : groups;
  const isWrong = zeros && zeros.length !== N * rowBytes;
  if (codes.length !== (N * groups * block * bits) / 8 || factor.length !== N * groups || isWrong)
    call.fail(`has weights, scales or zero points that do not fit ${N} × ${groups} groups of ${block}`);
  const zero = (n: number, g: number): number => {
    if (!zeros) return bits === 4 ? 8 : 128;
    return isPacked ? nibble(zeros, 2 * n * rowBytes + g) : zeros[n * rowBytes + g];
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
  return values;
}

/**
 * com.microsoft's product of x and a 4-bit or 8-bit matrix, which is stored as (N, groups, bytes) with a
 * scale and a zero point per group.
 */
export const matMulNBits: OnnxOperator = call => {
  const [x, scales] = [call.input(0), call.input(2)];
  const [K, N] = [call.int('K', 0), call.int('N', 0)];
  const [bits, block] = [call.int('bits', 4), call.int('block_size', 32)];
  if (bits !== 4 && bits !== 8) return call.refuse(`has weights of ${bits} bits; 4 and 8 are supported`);
  if (K < 1 || N < 1 || block < 1 || x.shape.at(-1) !== K)
    call.fail(`cannot multiply [${x.shape}] by ${K} × ${N}`);
  if (call.has(4)) call.refuse('has an order of groups (g_idx), which is not supported');
  const { draft } = call;
  return result({ type: x.type, shape: [...x.shape.slice(0, -1), N] }, () => {
    const values = dequantized(call, { K, N, bits, block }, 1);
    const weights = call.constant({ shape: [N, K], values }, scales.type);
    const matrices = [x.tensor(), draft.cast(weights, x.tensor().dtype)];
    const product = draft.op('MatMul', matrices, { transpose_b: true });
    return withBias(call, product, 5);
  });
};

/** com.microsoft's rows of a 4-bit or 8-bit matrix (N, K), such as a table of embeddings. */
export const gatherBlockQuantized: OnnxOperator = call => {
  const [data, indices, scales] = [call.input(0), call.input(1), call.input(2)];
  const [bits, block] = [call.int('bits', 4), call.int('block_size', 128)];
  const [N = 0, bytes = 0] = data.shape;
  const K = (bytes * 8) / bits;
  const hasRows = call.int('gather_axis', 0) === 0 && call.axis(call.int('quantize_axis', 1), 2) === 1;
  if (data.shape.length !== 2 || data.type.name !== 'uint8' || !hasRows || K % block !== 0)
    return call.refuse('reads from data of another form than bytes (N, K) in whole blocks along K');
  if (bits !== 4 && bits !== 8) return call.refuse(`has weights of ${bits} bits; 4 and 8 are supported`);
  return result({ type: scales.type, shape: [...indices.shape, K] }, () => {
    const values = dequantized(call, { K, N, bits, block }, 0);
    const table = call.constant({ shape: [N, K], values }, scales.type);
    return call.draft.op('Take', [table, indices.tensor()], { axis: 0 });
  });
};

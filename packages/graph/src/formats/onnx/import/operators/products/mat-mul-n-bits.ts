import { type NodeCall, type OnnxOperator, result } from '../../node-call.ts';
import { nibble, type PackedSizes, productBy } from './packed-matrix.ts';

/** A matrix in groups of quantized elements along K. */
interface QuantizedMatrix extends PackedSizes {
  readonly bits: number;
}

/**
 * The elements (N, K) of a matrix, from its codes (N, groups, bytes), its scales in input 2 and its zero
 * points in input 3.
 * @param codesAt the input with the codes.
 */
function dequantized(call: NodeCall, { K, N, bits, block }: QuantizedMatrix, codesAt: number): Float32Array {
  if (bits !== 4 && bits !== 8) return call.refuse(`has weights of ${bits} bits; 4 and 8 are supported`);
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
      const [to, size] = [n * K + g * block, Math.min(block, K - g * block)];
      for (let k = 0; k < size; k++) {
        const code = bits === 8 ? codes[first + k] : nibble(codes, first + k);
        values[to + k] = (code - center) * scale;
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
  if (call.has(4)) call.refuse('has an order of groups (g_idx), which is not supported');
  const [K, N] = [call.int('K', 0), call.int('N', 0)];
  const [bits, block] = [call.int('bits', 4), call.int('block_size', 32)];
  const sizes = { K, N, bits, block };
  return productBy(call, call.input(2).type, sizes, () => dequantized(call, sizes, 1));
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
  return result({ type: scales.type, shape: [...indices.shape, K] }, () => {
    const values = dequantized(call, { K, N, bits, block }, 0);
    const table = call.constant({ shape: [N, K], values }, scales.type);
    return call.draft.op('Take', [table, indices.tensor()], { axis: 0 });
  });
};

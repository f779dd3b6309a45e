import type { ElementType } from '../../file/element-type.ts';
import { type NodeCall, type NodeResult, result } from '../../node-call.ts';
import { withBias } from './bias.ts';

/** The sizes of a matrix (N, K) of packed elements, which a product multiplies by. */
export interface PackedSizes {
  readonly K: number;
  readonly N: number;
  /** The number of elements that share a scale. */
  readonly block: number;
}

/** The nth group of four bits. */
export const nibble = (all: ArrayLike<number>, n: number): number => (all[n >> 1] >> (4 * (n & 1))) & 15;

/**
 * The product of x and a matrix (N, K) whose elements are packed in the file, plus the bias in input 5.
 * @param type the type of the elements.
 * @param numbers returns the elements.
 */
export function productBy(
  call: NodeCall,
  type: ElementType,
  { K, N, block }: PackedSizes,
  numbers: () => Float32Array,
): NodeResult {
  const x = call.input(0);
  if (K < 1 || N < 1 || block < 1 || x.shape.at(-1) !== K)
    call.fail(`cannot multiply [${x.shape}] by ${K} × ${N}`);
  const { draft } = call;
  return result({ type: x.type, shape: [...x.shape.slice(0, -1), N] }, () => {
    const weights = call.constant({ shape: [N, K], values: numbers() }, type);
    const own = x.tensor();
    const product = draft.op('MatMul', [own, draft.cast(weights, own.dtype)], { transpose_b: true });
    return withBias(call, product, 5);
  });
}

import type { KeyRanges } from '../attention/host/key-ranges.ts';
import { required } from '../attention/host/required.ts';
import type { AttentionProblem, BroadcastDesc, Operands } from '../attention/problem/problem.ts';
import { valueDecoder } from '../tensor/dtype/convert.ts';
import type { Tensor } from '../tensor/tensor.ts';
import { type CaptureDerivative, createScoreMod } from './score-mod.ts';

/**
 * The stages from the scaled score x = scale · q·k of one pair (b, h, i, j) to its final score, in f64 on the
 * host. The reference uses it, and so does the CPU engine for its rarer options.
 *
 *     final(x) = softcap(mod(x)) + bias − slope · |i + off − j|          softcap(y) = c · tanh(y / c)
 *
 * Masks are not part of the chain: ask `Visibility`, and `bias` for −Infinity.
 */
export interface ScoreChain {
  /** The final score of a pair, from its scaled score x. */
  final(x: number, b: number, h: number, i: number, j: number): number;
  /** ∂ final / ∂ x = softcap′(mod(x)) · mod′(x), with softcap′(y) = 1 − tanh(y / c)². */
  derivative(x: number, b: number, h: number, i: number, j: number): number;
  /** The bias of a pair, 0 without one; ∂ final / ∂ bias = 1. */
  bias(b: number, h: number, i: number, j: number): number;
  /** |i + off − j|; ∂ final / ∂ slope = −distance. */
  distance(b: number, i: number, j: number): number;
  /** The captured tensors that the score mod loads floats from. */
  readonly differentiableCaptures: readonly string[];
  /** ∂ final / ∂ each captured element that the score mod loads for this pair. */
  captureDerivatives(x: number, b: number, h: number, i: number, j: number): readonly CaptureDerivative[];
}

/**
 * The score chain of a problem, which reads host operands.
 * @throws InvalidArgumentError if an operand that the problem names is missing.
 */
export function createScoreChain(
  problem: AttentionProblem,
  operands: Operands<Tensor>,
  { diagonalOffset }: Pick<KeyRanges, 'diagonalOffset'>,
): ScoreChain {
  const mod = createScoreMod(problem, operands);
  const bias = biasReader(problem.bias, operands.bias);
  const slopes = problem.alibi ? required('alibi', operands.alibi).toFloat64() : null;
  const { softcap } = problem;

  const cap = (y: number): number => (softcap === null ? y : softcap * Math.tanh(y / softcap));
  const capDerivative = (y: number): number => (softcap === null ? 1 : 1 - Math.tanh(y / softcap) ** 2);
  const distance = (b: number, i: number, j: number): number => Math.abs(i + diagonalOffset(b) - j);

  return {
    final(x, b, h, i, j) {
      const capped = cap(mod ? mod.value(x, b, h, i, j) : x);
      const biased = capped + bias(b, h, i, j);
      return slopes ? biased - slopes[h] * distance(b, i, j) : biased;
    },
    derivative(x, b, h, i, j) {
      return mod ? capDerivative(mod.value(x, b, h, i, j)) * mod.derivative(x, b, h, i, j) : capDerivative(x);
    },
    bias,
    distance,
    differentiableCaptures: mod?.differentiableCaptures ?? [],
    captureDerivatives(x, b, h, i, j) {
      if (!mod) return [];
      const outer = capDerivative(mod.value(x, b, h, i, j));
      return mod.captureDerivatives(x, b, h, i, j).map(d => ({ ...d, value: outer * d.value }));
    },
  };
}

function biasReader(desc: BroadcastDesc | null, operand: Tensor | undefined): ScoreChain['bias'] {
  if (!desc) return () => 0;
  const { data, offset } = required('bias', operand);
  const decode = valueDecoder(desc.dtype);
  const [sb, sh, si, sj] = desc.strides;
  return (b, h, i, j) => decode(data[offset + b * sb + h * sh + i * si + j * sj]);
}

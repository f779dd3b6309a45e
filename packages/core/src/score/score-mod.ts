import type { AttentionProblem, Operands } from '../attention/problem/problem.ts';
import { differentiate, loadGradients } from '../expr/differentiate.ts';
import { compile, type Evaluate } from '../expr/evaluate/evaluate.ts';
import { hostLoaders } from '../expr/evaluate/host-loaders.ts';
import { floatCaptures } from '../expr/nodes/walk.ts';
import { contiguousStrides } from '../tensor/shape.ts';
import type { Tensor } from '../tensor/tensor.ts';

/** The derivative with respect to element `index` (row-major) of the captured tensor `name`. */
export interface CaptureDerivative {
  /** The name of the captured tensor. */
  readonly name: string;
  /** The row-major index of the element that the score mod loads. */
  readonly index: number;
  /** The derivative with respect to this element. */
  readonly value: number;
}

/** A score mod as functions of the scaled score of a pair (b, h, i, j), in f64. */
export interface ScoreMod {
  readonly value: Evaluate;
  /** ∂ value / ∂ score. */
  readonly derivative: Evaluate;
  /** The captured tensors that the mod loads floats from. */
  readonly differentiableCaptures: readonly string[];
  /** ∂ value / ∂ each captured element that the mod loads for a pair, unless it is 0. */
  captureDerivatives(x: number, b: number, h: number, i: number, j: number): readonly CaptureDerivative[];
}

/** The score mod of a problem over host captures; null without one. */
export function createScoreMod(
  { scoreMod, captures }: AttentionProblem,
  operands: Partial<Operands<Tensor>>,
): ScoreMod | null {
  if (!scoreMod) return null;
  const loaders = hostLoaders(operands.captures);
  const differentiableCaptures = floatCaptures(scoreMod);
  const sites = differentiableCaptures.flatMap(name =>
    loadGradients(scoreMod, name).map(({ index, partial }) => ({
      name,
      partial: compile(partial, loaders),
      index: index.map(e => compile(e, loaders)),
      strides: contiguousStrides(captures[name].shape),
    })),
  );
  return {
    value: compile(scoreMod, loaders),
    derivative: compile(differentiate(scoreMod), loaders),
    differentiableCaptures,
    captureDerivatives(x, b, h, i, j) {
      const derivatives: CaptureDerivative[] = [];
      for (const { name, partial, index, strides } of sites) {
        const value = partial(x, b, h, i, j);
        // Behind a condition that is false, the index may be outside the tensor.
        if (value === 0) continue;
        const at = index.reduce((sum, e, d) => sum + e(x, b, h, i, j) * strides[d], 0);
        derivatives.push({ name, index: at, value });
      }
      return derivatives;
    },
  };
}

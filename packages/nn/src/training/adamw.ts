import { add, divide, multiply, sqrt, square, subtract, type Variable } from '@tilewise/graph/ops';

/** Settings of AdamW that stay the same in a run. */
export interface AdamWOptions {
  readonly betas: readonly [number, number];
  readonly epsilon: number;
}

/** A parameter, and the running means of its gradient and of the square of it. */
export interface Moments {
  readonly value: Variable;
  readonly first: Variable;
  readonly second: Variable;
}

/** The numbers of a step, f32 (). */
export interface StepNumbers {
  /** Learning rate over 1 − β₁ᵗ. */
  readonly rate: Variable;
  /** 1 / √(1 − β₂ᵗ). */
  readonly secondScale: Variable;
}

/**
 * A step of AdamW (Loshchilov and Hutter 2019, algorithm 2), with the places of the scales as PyTorch has
 * them.
 */
export function adamw(
  { value, first, second }: Moments,
  gradient: Variable,
  { rate, secondScale }: StepNumbers,
  decay: Variable,
  { betas: [beta1, beta2], epsilon }: AdamWOptions,
): Moments {
  const mean = add(multiply(first, beta1), multiply(gradient, 1 - beta1));
  const meanSquare = add(multiply(second, beta2), multiply(square(gradient), 1 - beta2));
  const root = add(multiply(sqrt(meanSquare), secondScale), epsilon);
  const moved = subtract(multiply(value, decay), multiply(divide(mean, root), rate));
  return { value: moved, first: mean, second: meanSquare };
}

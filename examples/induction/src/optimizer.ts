import type { Parameter } from './parameters.ts';

export interface AdamWOptions {
  readonly learningRate: number;
  readonly weightDecay?: number;
  readonly beta1?: number;
  readonly beta2?: number;
  /** The largest norm that the gradients together may have; larger ones are scaled down. */
  readonly maxNorm?: number;
}

/** AdamW (Loshchilov and Hutter 2019) with gradient clipping; `step` uses the gradients up and sets them to 0. */
export function createAdamW(
  parameters: readonly Parameter[],
  { learningRate, weightDecay = 0.01, beta1 = 0.9, beta2 = 0.98, maxNorm = 1 }: AdamWOptions,
): { step(rateFactor: number): void } {
  const moments = parameters.map(({ value }) => ({
    first: new Float64Array(value.length),
    second: new Float64Array(value.length),
  }));
  let t = 0;
  return {
    step(rateFactor) {
      t++;
      const rate = learningRate * rateFactor;
      const clip = Math.min(1, maxNorm / (norm(parameters) + 1e-12));
      const firstScale = 1 / (1 - beta1 ** t);
      const secondScale = 1 / (1 - beta2 ** t);
      parameters.forEach(({ value, gradient }, p) => {
        const { first, second } = moments[p];
        for (let n = 0; n < value.length; n++) {
          const g = clip * gradient[n];
          first[n] = beta1 * first[n] + (1 - beta1) * g;
          second[n] = beta2 * second[n] + (1 - beta2) * g * g;
          const direction = (first[n] * firstScale) / (Math.sqrt(second[n] * secondScale) + 1e-8);
          value[n] -= rate * (direction + weightDecay * value[n]);
        }
        gradient.fill(0);
      });
    },
  };
}

function norm(parameters: readonly Parameter[]): number {
  let squares = 0;
  for (const { gradient } of parameters) for (const g of gradient) squares += g * g;
  return Math.sqrt(squares);
}

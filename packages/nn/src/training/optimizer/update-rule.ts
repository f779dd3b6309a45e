import { InvalidArgumentError } from '@tilewise/core';
import { add, divide, multiply, sqrt, square, subtract, type Variable } from '@tilewise/graph/ops';

/** Variables by name. */
type Named = Readonly<Record<string, Variable>>;

/** AdamW (Loshchilov and Hutter 2019). */
export interface AdamWOptions {
  readonly kind?: 'adamw' | undefined;
  /** Default 0.9 and 0.999. */
  readonly betas?: readonly [number, number] | undefined;
  /** Default 1e-8. */
  readonly epsilon?: number | undefined;
  /** The fraction by which a parameter decays, per step and unit of learning rate. Default 0.01. */
  readonly weightDecay?: number | undefined;
}

/** Stochastic gradient descent, as in `torch.optim.SGD`. */
export interface SgdOptions {
  readonly kind: 'sgd';
  /** Default 0: no running sum of gradients is stored. */
  readonly momentum?: number | undefined;
  /** Default false. */
  readonly nesterov?: boolean | undefined;
  /** The weight decay: the parameter times this factor is added to its gradient. Default 0. */
  readonly weightDecay?: number | undefined;
}

/** How a parameter is updated with its gradient. */
export interface UpdateRule {
  /** The names of the state tensors of each parameter. */
  readonly state: readonly string[];
  readonly weightDecay: number;
  /** The numbers of step `step`, from 1, of a group of parameters. */
  numbers(step: number, learningRate: number, weightDecay: number): Readonly<Record<string, number>>;
  /** Returns the parameter, as `value`, and its state after the step. */
  update(before: Named, gradient: Variable, numbers: Named): Named;
}

/** The update rule of an optimizer. @throws InvalidArgumentError for numbers out of range. */
export function updateRule(options: AdamWOptions | SgdOptions): UpdateRule {
  return options.kind === 'sgd' ? sgdRule(options) : adamwRule(options);
}

function adamwRule({ betas = [0.9, 0.999], epsilon = 1e-8, weightDecay = 0.01 }: AdamWOptions): UpdateRule {
  const [beta1, beta2] = betas;
  checkRange('betas', Math.min(...betas) >= 0 && Math.max(...betas) < 1, 'must be in [0, 1)', betas);
  checkRange('epsilon', epsilon >= 0, 'must be 0 or more', epsilon);
  checkDecay(weightDecay);
  return {
    state: ['adamw.first', 'adamw.second'],
    weightDecay,
    // The scales are applied in the same order as in PyTorch.
    numbers: (step, learningRate, decay) => ({
      rate: learningRate / (1 - beta1 ** step),
      secondScale: 1 / Math.sqrt(1 - beta2 ** step),
      decay: 1 - learningRate * decay,
    }),
    update({ value, 'adamw.first': first, 'adamw.second': second }, gradient, { rate, secondScale, decay }) {
      const mean = add(multiply(first, beta1), multiply(gradient, 1 - beta1));
      const meanSquare = add(multiply(second, beta2), multiply(square(gradient), 1 - beta2));
      const root = add(multiply(sqrt(meanSquare), secondScale), epsilon);
      const moved = subtract(multiply(value, decay), multiply(divide(mean, root), rate));
      return { value: moved, 'adamw.first': mean, 'adamw.second': meanSquare };
    },
  };
}

function sgdRule({ momentum = 0, nesterov = false, weightDecay = 0 }: SgdOptions): UpdateRule {
  checkRange('momentum', momentum >= 0 && momentum < 1, 'must be in [0, 1)', momentum);
  checkRange('nesterov', !nesterov || momentum > 0, 'needs a momentum above 0', nesterov);
  checkDecay(weightDecay);
  return {
    state: momentum === 0 ? [] : ['sgd.momentum'],
    weightDecay,
    numbers: (_, rate, decay) => ({ rate, decay }),
    update({ value, 'sgd.momentum': before }, given, { rate, decay }): Named {
      const gradient = add(given, multiply(value, decay));
      if (!before) return { value: subtract(value, multiply(gradient, rate)) };
      const sum = add(multiply(before, momentum), gradient);
      const direction = nesterov ? add(gradient, multiply(sum, momentum)) : sum;
      return { value: subtract(value, multiply(direction, rate)), 'sgd.momentum': sum };
    },
  };
}

const checkDecay = (weightDecay: number): void =>
  checkRange(
    'weightDecay',
    weightDecay >= 0 && weightDecay < Infinity,
    'must be 0 or more, and finite',
    weightDecay,
  );

function checkRange(name: string, holds: boolean, rule: string, value: unknown): void {
  if (!holds) throw new InvalidArgumentError(`optimizer.${name}`, `${rule}, got ${value}`);
}

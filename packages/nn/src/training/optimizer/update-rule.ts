import { InvalidArgumentError } from '@tilewise/core';
import { add, divide, multiply, sqrt, square, subtract, type Variable } from '@tilewise/graph/ops';
import { checkFields, type FieldRules } from '../../checks/check-fields.ts';
import { belowOne, flag, fromZero, oneOf } from '../../checks/rules.ts';

/** Variables by name. */
type Named = Readonly<Record<string, Variable>>;

/** The options of every optimizer. */
export interface ClipOptions {
  /** The limit for the norm of all gradients as one vector; null means no limit. Default 1. */
  readonly maxNorm?: number | null | undefined;
}

/** AdamW (Loshchilov and Hutter 2019). */
export interface AdamWOptions extends ClipOptions {
  /** May be left out: AdamW is the default. */
  readonly kind?: 'adamw' | undefined;
  /** Default 0.9 and 0.999. */
  readonly betas?: readonly [number, number] | undefined;
  /** Default 1e-8. */
  readonly epsilon?: number | undefined;
  /** The fraction by which a parameter decays, per step and unit of learning rate. Default 0.01. */
  readonly weightDecay?: number | undefined;
}

/** Stochastic gradient descent, as in `torch.optim.SGD`. */
export interface SgdOptions extends ClipOptions {
  /** Chooses SGD instead of AdamW. */
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
  readonly maxNorm: number | null;
  /** The numbers of step `step`, from 1, of a group of parameters. */
  numbers(step: number, learningRate: number, weightDecay: number): Readonly<Record<string, number>>;
  /** Returns the parameter, as `value`, and its state after the step. */
  update(before: Named, gradient: Variable, numbers: Named): Named;
}

const commonRules: FieldRules<Pick<AdamWOptions | SgdOptions, 'kind' | 'maxNorm'>> = {
  kind: oneOf('adamw', 'sgd'),
  maxNorm: { rule: 'must be a number ≥ 0, or null', holds: x => x === null || fromZero.holds(x) },
};

const adamwRules: FieldRules<AdamWOptions> = {
  ...commonRules,
  betas: {
    rule: 'must be two numbers in [0, 1)',
    holds: x => Array.isArray(x) && x.length === 2 && x.every(belowOne.holds),
  },
  epsilon: fromZero,
  weightDecay: fromZero,
};

const sgdRules: FieldRules<SgdOptions> = {
  ...commonRules,
  momentum: belowOne,
  nesterov: flag,
  weightDecay: fromZero,
};

/** The update rule of an optimizer. @throws InvalidArgumentError for invalid options. */
export function updateRule(options: AdamWOptions | SgdOptions): UpdateRule {
  return options.kind === 'sgd' ? sgdRule(options) : adamwRule(options);
}

function adamwRule(options: AdamWOptions): UpdateRule {
  checkFields('optimizer', options, adamwRules);
  const { betas = [0.9, 0.999], epsilon = 1e-8, weightDecay = 0.01, maxNorm = 1 } = options;
  const [beta1, beta2] = betas;
  return {
    state: ['adamw.first', 'adamw.second'],
    weightDecay,
    maxNorm,
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

function sgdRule(options: SgdOptions): UpdateRule {
  checkFields('optimizer', options, sgdRules);
  const { momentum = 0, nesterov = false, weightDecay = 0, maxNorm = 1 } = options;
  if (nesterov && momentum === 0)
    throw new InvalidArgumentError('optimizer.nesterov', 'needs a momentum above 0, got true');
  return {
    state: momentum === 0 ? [] : ['sgd.momentum'],
    weightDecay,
    maxNorm,
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

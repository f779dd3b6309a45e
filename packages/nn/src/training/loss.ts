import type { TensorDesc } from '@tilewise/core';
import {
  add,
  concat,
  crossEntropy,
  evalShape,
  gradientsOf,
  greaterEqual,
  logSoftmax,
  multiply,
  neg,
  recompute,
  reduceMax,
  reduceSum,
  reshape,
  type Specs,
  square,
  type Variable,
  where,
} from '@tilewise/graph/ops';
import { inFloat32, type Scope } from '../architectures/transformer/scope.ts';
import type { FieldRules } from '../checks/check-fields.ts';
import { flag, fraction } from '../checks/rules.ts';
import type { Model } from '../model/model.ts';

/** Variables by name. */
type Named = Readonly<Record<string, Variable>>;

/** How the loss of a batch is computed. */
export interface LossOptions {
  /** The fraction of a label that is spread evenly over all classes (Szegedy et al. 2016). Default 0. */
  readonly labelSmoothing?: number | undefined;
  /** Whether the backward pass recomputes the intermediates of each block. Default false. */
  readonly recomputation?: boolean | undefined;
  /**
   * Whether the accuracy is computed too: the fraction of labels that are the most likely class. Default
   * false.
   */
  readonly accuracy?: boolean | undefined;
}

export const lossRules: FieldRules<LossOptions> = {
  labelSmoothing: fraction,
  recomputation: flag,
  accuracy: flag,
};

/** The values to compute for a batch. */
export interface LossWanted extends LossOptions {
  /** The names of the parameters to differentiate by. */
  readonly by: readonly string[];
  /** Whether gradients are in f32, and are added to the sum over earlier batches, `total.NAME`. */
  readonly sum?: 'first' | 'next' | undefined;
}

/** The loss of a batch and its gradients. */
export interface LossResult {
  /** (1) or (2): the loss and the accuracy. */
  readonly summary: Variable;
  /** In the order of `LossWanted.by`. */
  readonly gradients: readonly Variable[];
}

/** The dropout of a pass is drawn from these arguments: a seed, and an offset for each dropout. */
const SEED = 'dropout.seed';
const offsetName = (place: number): string => `dropout.${place}`;

/**
 * The number of dropouts in a model: each needs its own offset. Counted by a trace, because an imported graph
 * may use a layer several times.
 * @param batch the shapes and dtypes of the tensors of a batch.
 */
export function dropoutPlaces<T extends TensorDesc>(model: Model<T>, batch: Specs): number {
  let count = 0;
  const draw = (): null => {
    count++;
    return null;
  };
  const trace = (inputs: Named): Variable => model.traceLogits({ ...model.scope(inputs), draw }, inputs);
  evalShape(trace, { ...batch, ...model.specs() });
  return count;
}

/**
 * The seed and offsets from which a pass draws its dropout. The parts of a step have different seeds, so that
 * no two passes of a run have the same mask, however many parts the steps have.
 */
export function dropoutNumbers(
  places: number,
  seed: number | bigint,
  step: number,
  part = 0,
): Readonly<Record<string, bigint>> {
  if (places === 0) return {};
  const offsets = Array.from({ length: places }, (_, n) => {
    // Far enough apart for each dropout to draw one word per element.
    const offset = BigInt(step * places + n) << 32n;
    return [offsetName(n), offset] as const;
  });
  return { [SEED]: BigInt.asUintN(64, BigInt(seed) + BigInt(part)), ...Object.fromEntries(offsets) };
}

/** The mean cross-entropy over the labels that are not ignored. */
export function meanLoss<T extends TensorDesc>(
  model: Model<T>,
  inputs: Named,
  options: LossOptions = {},
): { readonly loss: Variable; readonly accuracy?: Variable } {
  let place = 0;
  const draw: Scope['draw'] = () => {
    const [seed, offset] = [SEED, offsetName(place++)].map(name => inputs[name]);
    return seed && offset ? { seed, offset } : null;
  };
  const scope: Scope = {
    ...model.scope(inputs),
    draw,
    ...(options.recomputation && { block: recompute }),
  };
  const logits = model.traceLogits(scope, inputs);
  const classes = logits.shape[logits.shape.length - 1];
  const { labels, labelWeights } = inputs;
  const flat = reshape(logits, [labels.shape[0], classes]);
  const { labelSmoothing = 0 } = options;
  const rows = crossEntropy(flat, labels, { labelSmoothing });
  const loss = reduceSum(multiply(rows, labelWeights));
  if (!options.accuracy) return { loss };
  const likeliest = reduceMax(logSoftmax(flat, { axis: -1 }), { axes: [-1] });
  const own = labelSmoothing === 0 ? rows : crossEntropy(flat, labels);
  const isRight = greaterEqual(neg(own), likeliest);
  return { loss, accuracy: reduceSum(where(isRight, labelWeights, 0)) };
}

/** The loss of a batch and its gradients, as a function to trace. */
export function lossAndGradients<T extends TensorDesc>(
  model: Model<T>,
  inputs: Named,
  { by, sum, ...options }: LossWanted,
): LossResult {
  const { loss, accuracy } = meanLoss(model, inputs, options);
  const { lossScale } = inputs;
  const own = gradientsOf(
    lossScale ? multiply(loss, lossScale) : loss,
    by.map(name => inputs[name]),
  );
  const gradients = by.map((name, n) => {
    if (sum === undefined) return own[n];
    return sum === 'first' ? inFloat32(own[n]) : add(inputs[`total.${name}`], inFloat32(own[n]));
  });
  const numbers = [loss, ...(accuracy ? [accuracy] : [])].map(x => reshape(x, [1]));
  return {
    summary: numbers.length === 1 ? numbers[0] : concat(numbers, { axis: 0 }),
    gradients,
  };
}

/** A vector of numbers, followed by the squared norm of some tensors. */
export function withSquaredNorm(numbers: Variable, tensors: readonly Variable[]): Variable {
  const squares = tensors.map(tensor => reduceSum(square(inFloat32(tensor))));
  const norm = squares.reduce((total, x) => add(total, x));
  return concat([numbers, reshape(norm, [1])], { axis: 0 });
}

import { InvalidArgumentError, Tensor, type TensorDesc } from '@tilewise/core';
import { type Specs, traceGraph } from '@tilewise/graph/ops';
import { type TorchOptions, toTorch } from '@tilewise/graph/torch';
import { splitU64, toU64 } from '@tilewise/philox';
import { checkArgument, checkFields, type FieldRules } from '../../checks/check-fields.ts';
import { anything, text } from '../../checks/rules.ts';
import { downloadAll } from '../../model/download.ts';
import { type LabelledBatch, labelledTensors } from '../../model/labels.ts';
import { checkModel, describeAll, type Model } from '../../model/model.ts';
import { dropoutNumbers, dropoutPlaces, meanLoss } from '../../training/loss.ts';
import { type Snapshot, snapshotRule } from '../../training/trainer-options.ts';

/** How a model's training is exported. */
export interface ExportTorchOptions {
  /** The name of the Python package. Default `model`. */
  readonly name?: string | undefined;
  /**
   * Defaults of the command line of `train.py`, such as `{ lr: 1e-3, clip: 1 }`. The other defaults are those
   * of `createTrainer`, a learning rate of 1e-3, and 100 steps; with `from`, one step for each batch.
   */
  readonly training?: TorchOptions['training'];
  /**
   * A state of a run with AdamW from which PyTorch continues: the batches are those of the following steps.
   * Without it, training begins with the weights of the model.
   */
  readonly from?: Snapshot | undefined;
  /** The seed of the run's dropout. Default 0. */
  readonly seed?: number | bigint | undefined;
}

const exportRules: FieldRules<ExportTorchOptions> = {
  name: text,
  training: anything,
  from: snapshotRule,
  seed: anything,
};

/**
 * Exports the training of a model as a PyTorch package, for one process or many: the loss as a module, the
 * weights, and batches of one shape, over which training loops. For texts, the batch and the sequence can be
 * sharded over ranks; for images, the batch. PyTorch trains the tensors of `from`, or without it the weights;
 * other tensors, such as frozen weights, are constants.
 * @returns the files by their paths inside a folder.
 * @throws InvalidArgumentError for batches of different shapes, and for the state of a run without AdamW; the
 * errors of `toTorch`.
 */
export async function exportTorch<T extends TensorDesc>(
  model: Model<T>,
  batches: readonly LabelledBatch[],
  options: ExportTorchOptions = {},
): Promise<Record<string, string | Uint8Array<ArrayBuffer>>> {
  checkModel(model);
  checkFields('options', options, exportRules);
  checkArgument('batches', batches, { rule: 'must be an array', holds: Array.isArray });
  const { from, seed = 0 } = options;
  toU64(seed, 'seed');
  const steps = batches.map(batch => labelledTensors(model.definition, [batch])[0]);
  const [first] = steps;
  if (!first) throw new InvalidArgumentError('batches', 'must have at least one batch');
  const described = JSON.stringify(describeAll(first));
  if (steps.some(step => JSON.stringify(describeAll(step)) !== described))
    throw new InvalidArgumentError('batches', 'must all have the same shape');
  const isText = first.tokens !== undefined;
  const [batch, sequence] = isText ? first.tokens.shape : [first.labels.size, 1];
  const begin = from?.steps ?? 0;
  const places = dropoutPlaces(model, describeAll(first));
  const draws = steps.map((_, n) => dropoutNumbers(places, seed, begin + n));
  const scalars = Object.keys(draws[0]).map(name => [name, { shape: [], dtype: 'i64' }] as const);
  const specs: Specs = { ...describeAll(first), ...model.specs(), ...Object.fromEntries(scalars) };
  const { graph, inputs, constants, results } = traceGraph(own => meanLoss(model, own).loss, specs);
  const weights = from?.tensors ?? (await downloadAll(model.engine, model.weights));
  const trained = Object.entries(inputs).filter(([name]) => weights.has(name));
  const lost = from && trained.find(([name]) => !weights.has(`adamw.first.${name}`));
  if (lost)
    throw new InvalidArgumentError('from', `must be a state of AdamW, but has no moments of '${lost[0]}'`);
  const frozen = Object.entries(model.bindings()).filter(([name]) => inputs[name] && !weights.has(name));
  const fixed = await downloadAll(model.engine, new Map(frozen));
  const cuts: Readonly<Record<string, readonly (readonly ('batch' | 'sequence')[])[]>> = {
    tokens: [['batch'], ['sequence']],
    tokenTypes: [['batch'], ['sequence']],
    lengths: [['batch']],
    pixels: [['batch'], [], [], []],
    labels: [isText ? ['batch', 'sequence'] : ['batch']],
    labelWeights: [isText ? ['batch', 'sequence'] : ['batch']],
  };
  const read = Object.keys(first).filter(name => inputs[name]);
  return toTorch(graph, {
    ...{ name: options.name ?? 'model', loss: results[0].id, extents: { batch, sequence } },
    constants: new Map([...constants, ...[...fixed].map(([name, t]) => [inputs[name].id, t] as const)]),
    parameters: Object.fromEntries(trained.map(([name, { id }]) => [name, id])),
    weights,
    shard: Object.fromEntries(read.map(name => [inputs[name].id, cuts[name]])),
    ...(from && { metadata: { step: `${begin}` } }),
    batches: new Map([
      ...read.map(name => [inputs[name].id, stacked(steps.map(step => step[name]))] as const),
      ...scalars.map(([name]) => [inputs[name].id, stacked(draws.map(draw => words(draw[name])))] as const),
    ]),
    // train.py has other defaults for these options than a trainer.
    training: { betas: '0.9,0.999', ...(from && { steps: begin + steps.length }), ...options.training },
  });
}

/** The 32-bit words of a 64-bit number, the low word first. */
function words(x: bigint): Tensor {
  return Tensor.from([...splitU64(x)], [2], { dtype: 'u32' });
}

/** Tensors of one shape, stacked along a new first axis. */
function stacked(tensors: readonly Tensor[]): Tensor {
  const [{ shape, dtype }] = tensors;
  return Tensor.from(
    tensors.flatMap(t => [...t.toFloat64()]),
    [tensors.length, ...shape],
    { dtype },
  );
}

import { InvalidArgumentError, InvalidShapeError, Tensor } from '@tilewise/core';
import { type ModelDefinition, predictsNext } from '../architectures/architecture.ts';
import { checkFields, type FieldRules } from '../checks/check-fields.ts';
import { anything, required } from '../checks/rules.ts';
import { type Batch, batchTensors, checkIndex, limitsOf } from './batch.ts';

/** Labels of the tokens of a batch by row, or of its images. */
export type Labels = readonly ArrayLike<number>[] | ArrayLike<number>;

/** A batch with its labels: (B, S) for tokens, or (B) for images; the label −100 is ignored. */
export interface LabelledBatch {
  /** Texts or images. */
  readonly inputs: Batch;
  /** A row of labels for each row of tokens, or a label for each image. */
  readonly labels: Labels;
}

const batchRules: FieldRules<LabelledBatch> = {
  inputs: required(anything),
  labels: required({
    rule: 'must be an array of labels, or of rows of labels',
    holds: x => Array.isArray(x) || ArrayBuffer.isView(x),
  }),
};

/** The label that is ignored. */
export const IGNORED = -100;

/**
 * The tensors of batches with their labels, by the names of the arguments of a loss, which is the mean over
 * the labels of all batches.
 * @throws InvalidArgumentError, InvalidShapeError for a batch that does not fit the model, and if all labels
 * are ignored.
 */
export function labelledTensors(
  definition: ModelDefinition,
  batches: readonly LabelledBatch[],
): readonly Readonly<Record<string, Tensor>>[] {
  if (batches.length === 0) throw new InvalidArgumentError('batch', 'must be at least one batch');
  const counted: number[] = [];
  const inputs = batches.map(batch => {
    checkFields('batch', batch, batchRules);
    const tensors = batchTensors(definition, batch.inputs);
    counted.push(labelCount(definition, tensors, rowsOfLabels(batch.labels)));
    return tensors;
  });
  const sum = counted.reduce((total, count) => total + count, 0);
  if (sum === 0) throw new InvalidArgumentError('labels', `must have a label other than ${IGNORED}`);
  return inputs.map((tensors, n) => ({ ...tensors, ...targetTensors(definition, batches[n].labels, sum) }));
}

/** Checks the labels of a batch, and counts those that are not ignored. */
function labelCount(
  definition: ModelDefinition,
  { tokens, pixels }: Readonly<Record<string, Tensor>>,
  rows: readonly ArrayLike<number>[],
): number {
  const shape = tokens ? tokens.shape : [1, pixels.shape[0]];
  const isWhole = rows.length === shape[0] && rows.every(row => row?.length === shape[1]);
  if (!isWhole && definition.kind !== 'exported')
    throw new InvalidShapeError(
      'labels',
      `must have shape [${tokens ? shape : shape[1]}], got rows of length ${rows.map(row => row?.length)}`,
    );
  const { classes } = limitsOf(definition);
  let counted = 0;
  for (const row of rows) {
    for (let n = shiftOf(definition); n < row.length; n++) {
      if (row[n] === IGNORED) continue;
      checkIndex('labels', row[n], classes, `, or ${IGNORED}`);
      counted++;
    }
  }
  return counted;
}

/**
 * Labels in one list, i32 (rows), and their weights in the loss, f32 (rows). For models that predict the next
 * token, labels are shifted: each token gets the label of the token after it.
 * @param counted the number of labels of which the loss is the mean.
 */
function targetTensors(
  definition: ModelDefinition,
  labels: Labels,
  counted: number,
): { readonly labels: Tensor; readonly labelWeights: Tensor } {
  const rows = rowsOfLabels(labels);
  const size = rows.reduce((count, { length }) => count + length, 0);
  const all = Tensor.zeros([size], { dtype: 'i32' });
  const labelWeights = Tensor.zeros([size]);
  const shift = shiftOf(definition);
  let at = 0;
  for (const row of rows) {
    for (let n = shift; n < row.length + shift; n++, at++) {
      if (n >= row.length || row[n] === IGNORED) continue;
      all.data[at] = row[n];
      labelWeights.data[at] = 1 / counted;
    }
  }
  return { labels: all, labelWeights };
}

/** The number of places by which labels are shifted: nothing predicts the first token of a text. */
const shiftOf = (definition: ModelDefinition): number => (predictsNext(definition) ? 1 : 0);

const rowsOfLabels = (labels: Labels): readonly ArrayLike<number>[] => (isRows(labels) ? labels : [labels]);

function isRows(labels: Labels): labels is readonly ArrayLike<number>[] {
  return typeof labels[0] === 'object';
}

import { describeValue, InvalidArgumentError, InvalidShapeError, Tensor } from '@tilewise/core';
import { type ModelDefinition, predictsNext } from '../architectures/architecture.ts';
import { integers } from '../architectures/transformer/scope.ts';

/** Texts as tokens, in rows of one length with padding on the right, or images. */
export type Batch =
  | {
      /** Each row holds the tokens of a sequence and its padding. */
      readonly tokens: readonly ArrayLike<number>[];
      /** The number of tokens of each row before its padding; all by default. */
      readonly lengths?: readonly number[] | undefined;
      readonly tokenTypes?: readonly ArrayLike<number>[] | undefined;
    }
  | {
      /** f32 (B, channels, size, size) */
      readonly pixels: Tensor;
    };

/** The label that is ignored. */
export const IGNORED = -100;

/** The tensors of a batch, by the names of the arguments of a model. */
export function batchTensors(batch: Batch): Readonly<Record<string, Tensor>> {
  if ('pixels' in batch) return { pixels: batch.pixels };
  const { tokens, lengths, tokenTypes } = batch;
  return {
    tokens: rowsOf('tokens', tokens),
    ...(lengths && { lengths: integers(lengths) }),
    ...(tokenTypes && { tokenTypes: rowsOf('tokenTypes', tokenTypes) }),
  };
}

function rowsOf(name: string, rows: readonly ArrayLike<number>[]): Tensor {
  const [first] = rows;
  if (!first?.length)
    throw new InvalidArgumentError(name, 'must have at least one row of at least one token');
  if (rows.some(row => row.length !== first.length))
    throw new InvalidShapeError(name, 'must have rows of equal length');
  return flattened(name, rows, 0).reshape([rows.length, first.length]);
}

/**
 * Returns the numbers of some rows in one list, i32.
 * @param shift the number of places by which each row is shifted to the left; `IGNORED` fills its end.
 */
function flattened(name: string, rows: readonly ArrayLike<number>[], shift: number): Tensor {
  const all = Tensor.zeros([rows.reduce((count, { length }) => count + length, 0)], { dtype: 'i32' });
  let at = 0;
  for (const row of rows) {
    for (let n = shift; n < row.length + shift; n++) {
      const value = n < row.length ? row[n] : IGNORED;
      if (typeof value !== 'number')
        throw new InvalidArgumentError(name, `must be numbers, got ${describeValue(value)}`);
      all.data[at++] = value;
    }
  }
  return all;
}

/** Labels of the tokens of a batch by row, or of its images. */
export type Labels = readonly ArrayLike<number>[] | ArrayLike<number>;

/** The number of labels that are not ignored. @throws InvalidArgumentError if all are. */
export function labelCount(definition: ModelDefinition, labels: Labels): number {
  let counted = 0;
  for (const row of rowsOfLabels(labels))
    for (let n = shiftOf(definition); n < row.length; n++) if ((row[n] | 0) !== IGNORED) counted++;
  if (counted === 0) throw new InvalidArgumentError('labels', `must have a label other than ${IGNORED}`);
  return counted;
}

/**
 * Labels in one list, i32 (rows), and their weights in the loss, f32 (rows). For models that predict the next
 * token, the label of a token is that of the token after it.
 * @param counted the number of labels, over all batches, of which the loss is the mean.
 */
export function targetTensors(
  definition: ModelDefinition,
  labels: Labels,
  counted: number = labelCount(definition, labels),
): { readonly labels: Tensor; readonly counts: Tensor } {
  const all = flattened('labels', rowsOfLabels(labels), shiftOf(definition));
  const counts = Tensor.zeros(all.shape);
  for (let n = 0; n < all.data.length; n++) {
    if (all.data[n] === IGNORED) all.data[n] = 0;
    else counts.data[n] = 1 / counted;
  }
  return { labels: all, counts };
}

/** The number of places by which labels are shifted: nothing predicts the first token of a text. */
const shiftOf = (definition: ModelDefinition): number => (predictsNext(definition) ? 1 : 0);

const rowsOfLabels = (labels: Labels): readonly ArrayLike<number>[] => (isRows(labels) ? labels : [labels]);

function isRows(labels: Labels): labels is readonly ArrayLike<number>[] {
  return typeof labels[0] === 'object';
}

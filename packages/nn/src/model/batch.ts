import {
  checkObject,
  describeValue,
  InvalidArgumentError,
  InvalidShapeError,
  listText,
  Tensor,
} from '@tilewise/core';
import { checkShape } from '@tilewise/core/engine';
import type { ModelDefinition } from '../architectures/architecture.ts';
import { integers } from '../architectures/transformer/scope.ts';
import { checkFields, type FieldRules, type Rule } from '../checks/check-fields.ts';
import { anything, required } from '../checks/rules.ts';

/** Texts as rows of tokens. */
interface TextBatch {
  /** Each row holds the tokens of a sequence and its padding, from 0 to the vocabulary's size − 1. */
  readonly tokens: readonly ArrayLike<number>[];
  /** The number of tokens of each row before its padding. Default: the whole row. */
  readonly lengths?: readonly number[] | undefined;
  readonly tokenTypes?: readonly ArrayLike<number>[] | undefined;
}

interface ImageBatch {
  /** f32 (B, channels, size, size) */
  readonly pixels: Tensor;
}

/** Texts as tokens, in rows of one length with padding on the right, or images. */
export type Batch = TextBatch | ImageBatch;

const absent: Rule = { rule: 'must be left out for this model', holds: () => false };

const textRules: FieldRules<TextBatch & Partial<ImageBatch>> = {
  tokens: required(anything),
  lengths: anything,
  tokenTypes: anything,
  pixels: absent,
};

const imageRules: FieldRules<ImageBatch & Partial<TextBatch>> = {
  ...{ tokens: absent, lengths: absent, tokenTypes: absent },
  pixels: required({ rule: 'must be a Tensor', holds: x => x instanceof Tensor }),
};

/** The limits of a model's indices. Kernels do not check indices, so this package does. */
interface IndexLimits {
  /** The number of tokens. */
  readonly vocabulary: number;
  /** The maximum length of a text. */
  readonly positions: number;
  /** The number of token types. */
  readonly tokenTypes: number;
  /** The number of classes that a label may name. */
  readonly classes: number;
}

/** The limits of a model's indices; 2³¹ for a limit that is unknown. */
export function limitsOf(definition: ModelDefinition): IndexLimits {
  const most = 2 ** 31;
  const none = { vocabulary: most, positions: most, tokenTypes: most, classes: most };
  if (definition.kind === 'exported') return none;
  if (definition.kind === 'image') return { ...none, classes: definition.classes };
  if (definition.kind === 'masked') {
    const { vocabulary, limits } = definition;
    return { ...none, vocabulary, classes: vocabulary, ...limits };
  }
  const { vocabulary, positions } = definition.decoder;
  return { vocabulary, positions: positions?.count ?? most, tokenTypes: 0, classes: vocabulary };
}

/**
 * The tensors of a batch, by the names of the arguments of a model.
 * @throws InvalidArgumentError, InvalidShapeError for a batch that does not fit the model.
 */
export function batchTensors(definition: ModelDefinition, batch: Batch): Readonly<Record<string, Tensor>> {
  checkObject('inputs', batch);
  const { kind } = definition;
  const { pixels } = batch as ImageBatch;
  if (kind === 'exported' ? pixels !== undefined : kind === 'image') {
    checkFields('inputs', batch as ImageBatch, imageRules);
    if (kind === 'image') {
      const { channels, imageSize } = definition;
      const shape = [pixels.shape[0], channels, imageSize, imageSize];
      checkShape('pixels', pixels.shape, shape);
    }
    return { pixels };
  }
  checkFields('inputs', batch as TextBatch, textRules);
  const { tokens, lengths, tokenTypes } = batch as TextBatch;
  const limits = limitsOf(definition);
  const ids = rowsOf('tokens', tokens, limits.vocabulary, lengths);
  const [B, S] = ids.shape;
  if (S > limits.positions)
    throw new InvalidArgumentError(
      'tokens',
      `must have rows of at most ${limits.positions} positions, got ${S}`,
    );
  if (tokenTypes && limits.tokenTypes === 0) throw new InvalidArgumentError('tokenTypes', absent.rule);
  const types = tokenTypes && rowsOf('tokenTypes', tokenTypes, limits.tokenTypes, lengths);
  if (types) checkShape('tokenTypes', types.shape, ids.shape);
  return {
    tokens: ids,
    ...(lengths && { lengths: integers(checkedLengths(lengths, B, S)) }),
    ...(types && { tokenTypes: types }),
  };
}

function checkedLengths(lengths: readonly number[], rows: number, most: number): readonly number[] {
  if (Array.isArray(lengths) && lengths.length === rows && lengths.every(x => isIndex(x, most + 1)))
    return lengths;
  throw new InvalidArgumentError(
    'lengths',
    `must be an array of ${rows} integers from 0 to ${most}, got ${listText(lengths)}`,
  );
}

/**
 * Rows of integers below a limit as one tensor, i32 (rows, length). The padding may hold other numbers, such
 * as −1 or a token beyond the vocabulary; they become 0.
 */
function rowsOf(
  name: string,
  rows: readonly ArrayLike<number>[],
  limit: number,
  lengths: readonly number[] | undefined,
): Tensor {
  const length = Array.isArray(rows) && rows[0]?.length;
  if (!length)
    throw new InvalidArgumentError(name, `must be rows of at least one token, got ${listText(rows)}`);
  if (rows.some(row => row?.length !== length))
    throw new InvalidShapeError(name, 'must have rows of equal length');
  const all = Tensor.zeros([rows.length, length], { dtype: 'i32' });
  for (const [n, row] of rows.entries()) {
    const end = lengths?.[n] ?? length;
    for (let i = 0; i < length; i++) {
      if (isIndex(row[i], limit)) all.data[n * length + i] = row[i];
      else if (i < end) checkIndex(name, row[i], limit, '');
    }
  }
  return all;
}

/** Checks that a value is an integer from 0 to `limit` − 1. @param others words for other allowed values. */
export function checkIndex(name: string, value: unknown, limit: number, others: string): void {
  if (isIndex(value, limit)) return;
  throw new InvalidArgumentError(
    name,
    `must be integers from 0 to ${limit - 1}${others}, got ${describeValue(value)}`,
  );
}

/** Whether a value is an integer from 0 to `limit` − 1. */
function isIndex(value: unknown, limit: number): value is number {
  return Number.isInteger(value) && Number(value) >= 0 && Number(value) < limit;
}

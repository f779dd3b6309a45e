import { describeValue, InvalidArgumentError, InvalidDTypeError, InvalidShapeError } from '../errors.ts';
import { checkTensor } from '../tensor/checks/check-tensor.ts';
import { dtypeTraits } from '../tensor/dtype/dtype-traits.ts';
import { type HostArray, isHostArray, numbersOf } from '../tensor/host-array.ts';
import { isList } from '../tensor/tensor-desc.ts';

/** The maximum number of entries of a list of lengths. */
const maxSequences = 2 ** 24 + 1;

/** Lengths, or cumulative lengths, of the sequences of a batch: numbers, or a host tensor of rank 1. */
export type Lengths = readonly number[] | HostArray;

/**
 * The start of each sequence if the sequences are stored one after the other, and the end of the last one:
 * [2, 0, 3] → [0, 2, 2, 5].
 * @throws InvalidArgumentError for a length that is negative or not an integer; InvalidShapeError for a
 * tensor whose rank is not 1; InvalidDTypeError for a tensor that does not hold integers.
 */
export function cumulativeLengths(lengths: Lengths): number[] {
  const cumulative = [0];
  for (const length of checkLengths('lengths', lengths)) {
    cumulative.push((cumulative.at(-1) ?? 0) + length);
  }
  return cumulative;
}

/**
 * The lengths of sequences, from their cumulative lengths: [0, 2, 2, 5] → [2, 0, 3].
 * @param argument the name of the argument in errors.
 * @throws as `cumulativeLengths`; InvalidArgumentError unless the first entry is 0 and no entry is less than
 * the entry before it.
 */
export function lengthsFromCumulative(cumulative: Lengths, argument = 'cumulative'): number[] {
  const starts = checkLengths(argument, cumulative);
  if (starts[0] !== 0)
    throw new InvalidArgumentError(argument, `must start with 0, got ${describeValue(starts[0])}`);
  const lengths = starts.slice(1).map((end, b) => end - starts[b]);
  const b = lengths.findIndex(length => length < 0);
  if (b >= 0) {
    throw new InvalidArgumentError(argument, `must not decrease, got ${starts[b]} then ${starts[b + 1]}`);
  }
  return lengths;
}

/**
 * Lengths as numbers.
 * @throws InvalidArgumentError for a length that is negative, not an integer, or more than `longest`;
 * InvalidShapeError for more than 2^24 + 1 lengths, or a tensor whose rank is not 1; InvalidDTypeError for a
 * tensor that does not hold integers.
 */
export function checkLengths(argument: string, lengths: Lengths, longest?: number): number[] {
  const isTensor = isHostArray(lengths);
  if (!isTensor && !isList(lengths)) {
    const rule = `must be numbers or a Tensor of rank 1, got ${describeValue(lengths)}`;
    throw new InvalidArgumentError(argument, rule);
  }
  if (isTensor) checkVector(argument, lengths);
  const count = isTensor ? lengths.shape[0] : lengths.length;
  if (count > maxSequences)
    throw new InvalidShapeError(argument, `must have at most ${maxSequences} entries, got ${count}`);
  const numbers = isTensor ? numbersOf(lengths) : [...lengths];
  numbers.forEach((length, b) => {
    if (!Number.isInteger(length) || length < 0 || (longest !== undefined && length > longest)) {
      const range = longest === undefined ? 'non-negative integers' : `integers in 0..${longest}`;
      throw new InvalidArgumentError(argument, `must be ${range}, got ${describeValue(length)} at ${b}`);
    }
  });
  return numbers;
}

function checkVector(argument: string, list: HostArray): void {
  checkTensor(argument, list);
  if (list.shape.length !== 1)
    throw new InvalidShapeError(argument, `must have rank 1, got shape [${list.shape}]`);
  if (dtypeTraits[list.dtype]?.kind !== 'integer')
    throw new InvalidDTypeError(argument, `must hold integers, got ${list.dtype}`);
}

import { InvalidArgumentError, InvalidDTypeError, type OperandDesc } from '@tilewise/core';
import { checkNoOverlap, checkShape, dtypeTraits, operandTable } from '@tilewise/core/engine';
import { checkOptions, describeValue } from '@tilewise/philox/errors';
import type { CallNumbers, EncodeOptions, PlanOptions } from './plan.ts';
import { wordsOf } from './uint64.ts';

/**
 * The names of tensors that only some problems have: the tensors that mods load, their gradients, and the
 * tensors of MXFP8.
 */
const furtherTensors = /^(captures|dCaptures|mxfp8)\../;

/**
 * The names of the tensors that may start at any element.
 * @throws InvalidArgumentError if the option is not a list of tensor names.
 */
export function unalignedNames({ unaligned = [] }: PlanOptions): ReadonlySet<string> {
  if (typeof unaligned !== 'object' || !unaligned || !(Symbol.iterator in unaligned)) {
    throw new InvalidArgumentError(
      'options.unaligned',
      `must be an array of tensor names, got ${describeValue(unaligned)}`,
    );
  }
  const names = new Set(unaligned);
  for (const name of names) {
    if (Object.hasOwn(operandTable, name) || (typeof name === 'string' && furtherTensors.test(name)))
      continue;
    throw new InvalidArgumentError(
      'options.unaligned',
      `must contain names of the plan's tensors, such as q, k and o, got ${describeValue(name)}`,
    );
  }
  return names;
}

/**
 * Checks that a result has the right shape (packed and ragged results may have any number of tokens), and a
 * different offset for each element.
 */
export function checkResultLayout(argument: string, desc: OperandDesc, dense: OperandDesc['shape']): void {
  const [, H, , D] = dense;
  const shape = desc.starts === 'strided' ? dense : ([1, H, desc.shape[2], D] as const);
  if (dtypeTraits[desc.dtype]?.kind !== 'float') {
    throw new InvalidDTypeError(argument, `must be a float dtype, got ${desc.dtype}`);
  }
  checkShape(argument, desc.shape, shape);
  checkNoOverlap(argument, desc);
}

/**
 * The numbers of a call of `encode`.
 * @throws InvalidArgumentError naming an option that is invalid.
 */
export function numbersOfCall(options: EncodeOptions): CallNumbers {
  checkOptions('options', options, ['seed', 'offset', 'scale']);
  const { seed, offset, scale } = options;
  if (scale !== undefined && !(typeof scale === 'number' && Number.isFinite(Math.fround(scale)))) {
    throw new InvalidArgumentError('options.scale', `must be a finite number, got ${describeValue(scale)}`);
  }
  return { seed: wordsOf('options.seed', seed), offset: wordsOf('options.offset', offset), scale };
}

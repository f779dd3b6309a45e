import {
  dtypeTraits,
  InvalidArgumentError,
  InvalidDTypeError,
  InvalidShapeError,
  listText,
  type OperandDesc,
  operandTable,
  type U64Words,
} from '@tilewise/core';
import { checkOptions, describeValue } from '@tilewise/philox/errors';
import type { EncodeOptions, PlanOptions } from './plan.ts';

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
  if (desc.shape.some((n, d) => n !== shape[d])) {
    throw new InvalidShapeError(argument, `must have shape [${shape}], got [${desc.shape}]`);
  }
  if (isOverlapping(desc)) {
    throw new InvalidArgumentError(
      argument,
      `must give each element an offset of its own, got strides [${desc.strides}] for shape [${shape}]`,
    );
  }
}

/**
 * Whether two elements of a layout may have the same offset: some dimension has a stride smaller than the
 * span of the dimensions inside it.
 */
export function isOverlapping({ shape, strides }: OperandDesc): boolean {
  if (shape.includes(0)) return false;
  const dims = shape
    .map((extent, d) => ({ extent, stride: strides[d] ?? 0 }))
    .filter(({ extent }) => extent > 1);
  let span = 1;
  for (const { extent, stride } of dims.sort((a, b) => a.stride - b.stride)) {
    if (stride < span) return true;
    span += (extent - 1) * stride;
  }
  return false;
}

/**
 * Checks the options of a call of `encode`.
 * @throws InvalidArgumentError naming the option.
 */
export function checkEncodeOptions(options: EncodeOptions): void {
  checkOptions('options', options, ['seed', 'offset', 'scale']);
  const { seed, offset, scale } = options;
  if (seed !== undefined) checkWords('options.seed', seed);
  if (offset !== undefined) checkWords('options.offset', offset);
  if (scale === undefined || (typeof scale === 'number' && Number.isFinite(Math.fround(scale)))) return;
  throw new InvalidArgumentError('options.scale', `must be a finite number, got ${describeValue(scale)}`);
}

function checkWords(argument: string, words: U64Words): void {
  const isWord = (n: unknown): boolean => Number.isInteger(n) && Number(n) >= 0 && Number(n) < 2 ** 32;
  if (Array.isArray(words) && words.length === 2 && words.every(isWord)) return;
  const rule = `must be two integers in [0, 2^32), low and high, got ${listText(words)}`;
  throw new InvalidArgumentError(argument, rule);
}

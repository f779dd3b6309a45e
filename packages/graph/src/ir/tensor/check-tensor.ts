import {
  checkOneOf,
  elementCount,
  InvalidArgumentError,
  InvalidDTypeError,
  InvalidShapeError,
  listText,
} from '@tilewise/core';
import { isGraphDType } from './dtype.ts';
import { isKnown, type LogicalTensor, UNKNOWN } from './logical-tensor.ts';

const layouts: readonly unknown[] = ['strided', 'any', 'opaque', 'undef'];
const properties: readonly unknown[] = ['undef', 'variable', 'constant', 'host_scalar'];

/**
 * Checks the description of a tensor that comes from untyped JavaScript or a file.
 * @param name a prefix of the names in errors: '' or `tensor 3: `.
 * @throws InvalidDTypeError, InvalidShapeError or InvalidArgumentError naming the part that is wrong.
 */
export function checkTensor(
  name: string,
  t: Readonly<Record<keyof Omit<LogicalTensor, 'name'>, unknown>>,
): void {
  const { id, dtype, shape, strides, layout, property } = t;
  if (!isGraphDType(dtype)) throw new InvalidDTypeError(`${name}dtype`, `'${String(dtype)}' is not a dtype`);
  if (!Number.isSafeInteger(id) || Number(id) < 0)
    throw new InvalidArgumentError(`${name}id`, `must be an integer in [0, 2^53), got ${id}`);
  if (shape !== null && !areExtents(shape)) {
    const rule = `must hold integers ≥ 0, or −1 where unknown, got ${listText(shape)}`;
    throw new InvalidShapeError(`${name}shape`, rule);
  }
  if (isKnown(shape) && !Number.isSafeInteger(elementCount(shape)))
    throw new InvalidShapeError(`${name}shape`, `must have fewer than 2^53 elements, got [${shape}]`);
  if (strides !== null && (!areExtents(strides) || (shape !== null && strides.length !== shape.length))) {
    const rule = `must be one integer ≥ 0 for each extent, got ${listText(strides)}`;
    throw new InvalidShapeError(`${name}strides`, rule);
  }
  checkOneOf(`${name}layout`, layout, layouts);
  checkOneOf(`${name}property`, property, properties);
  const isScalar = ['i32', 'f32', 'i64'].includes(dtype) && shape?.length === 0;
  if (property === 'host_scalar' && !isScalar) {
    const rule = `host_scalar is for i32, f32 or i64 of shape [], got ${dtype} [${shape}]`;
    throw new InvalidArgumentError(`${name}property`, rule);
  }
}

function areExtents(list: unknown): list is readonly number[] {
  return Array.isArray(list) && list.every(n => Number.isSafeInteger(n) && n >= UNKNOWN);
}

import { elementCount, InvalidArgumentError, Tensor } from '@tilewise/core';
import { joinU64 } from '@tilewise/philox';
import { exprType } from '../../ir/program/expr.ts';
import { storageDType } from '../../ir/tensor/dtype.ts';
import type { LogicalTensor } from '../../ir/tensor/logical-tensor.ts';
import type { MappedOptions } from './options.ts';
import { type Axis, extentOf, type Factor, joinFactors, unshardedAxes } from './tensors/axes.ts';
import type { Dialect } from './tensors/dialect.ts';
import { literal } from './tensors/expression.ts';
import { type PyTensor, tuple } from './tensors/tensor.ts';

/**
 * The inputs in Python, by id: parameters, constants and arguments. `files` contains the constants that are
 * written to a file.
 */
export function givenTensors(
  inputs: readonly LogicalTensor[],
  options: MappedOptions,
  dialect: Dialect,
  nameOf: (tensor: LogicalTensor) => string,
): { readonly given: ReadonlyMap<number, PyTensor>; readonly files: ReadonlyMap<string, Tensor> } {
  const parameters = new Map(Object.entries(options.parameters ?? {}).map(([own, id]) => [id, own]));
  const files = new Map<string, Tensor>();
  const givenOf = (tensor: LogicalTensor): PyTensor => {
    const { id, shape } = tensor;
    const parameter = parameters.get(id);
    if (parameter !== undefined)
      return { code: dialect.parameter(parameter), axes: unshardedAxes(shape ?? []) };
    const value = options.constants.get(id);
    if (value === undefined) return { code: nameOf(tensor), axes: shardedAxes(tensor, options) };
    return givenConstant(tensor, value, dialect, files);
  };
  return { given: new Map(inputs.map(tensor => [tensor.id, givenOf(tensor)])), files };
}

/** A constant: a number in the text, or a tensor from a file. */
function givenConstant(
  { id, dtype, shape }: LogicalTensor,
  value: Tensor | number | bigint,
  dialect: Dialect,
  files: Map<string, Tensor>,
): PyTensor {
  const own = shape ?? [];
  if (dtype === 'i64' && elementCount(own) === 1) return { code: `${wordOf(value)}`, axes: [] };
  const numbers =
    value instanceof Tensor ? value : Tensor.from([Number(value)], own, { dtype: storageDType(dtype) });
  const axes = unshardedAxes(own);
  if (numbers.size === 1) {
    const [first = 0] = numbers.toFloat64();
    return {
      code: dialect.full(tuple(own.map(String)), literal(first, exprType(numbers.dtype)).code),
      axes,
      value: first,
    };
  }
  files.set(`t${id}`, numbers);
  return { code: dialect.constant(`t${id}`), axes };
}

/** The value of an i64 scalar, which a tensor stores as two u32, the low word first. */
function wordOf(value: Tensor | number | bigint): bigint {
  if (!(value instanceof Tensor)) return BigInt(value);
  const [low = 0, high = 0] = value.toFloat64();
  return joinU64([low, high]);
}

/** The axes of an input, sharded as the options say. */
function shardedAxes({ id, shape }: LogicalTensor, { shard = {}, extents = {} }: MappedOptions): Axis[] {
  const cut = shard[id];
  if (!cut) return unshardedAxes(shape ?? []);
  if (cut.length !== shape?.length) {
    throw new InvalidArgumentError(
      'options.shard',
      `must list the ${shape?.length} axes of tensor ${id}, got ${cut.length}`,
    );
  }
  return cut.map((factors, d) => {
    const axis = factors.map((factor): Factor => {
      if (typeof factor === 'number') return { role: null, extent: factor };
      const extent = extents[factor];
      if (extent === undefined) {
        throw new InvalidArgumentError(
          'options.extents',
          `must list the extent of '${factor}', by which tensor ${id} is sharded`,
        );
      }
      return { role: extent === 1 ? null : factor, extent };
    });
    const product = extentOf(axis);
    if (factors.length > 0 && product !== shape[d]) {
      throw new InvalidArgumentError(
        'options.shard',
        `makes axis ${d} of tensor ${id} ${product}, but it has ${shape[d]}`,
      );
    }
    return factors.length === 0 ? unshardedAxes([shape[d]])[0] : joinFactors(axis);
  });
}

import { elementCount, InvalidArgumentError, InvalidShapeError, type Tensor } from '@tilewise/core';
import { joinU64 } from '@tilewise/philox';
import { exprType } from '../../ir/program/expr.ts';
import type { LogicalTensor } from '../../ir/tensor/logical-tensor.ts';
import { isScalarValue } from '../../ir/tensor/scalar.ts';
import { scalarTensor, storageDesc } from '../../ir/tensor/storage.ts';
import { checkBound } from '../../runtime/bindings/bindable.ts';
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
    if (parameter !== undefined) {
      checkWeight(parameter, shape, options.weights);
      return { code: dialect.parameter(parameter), axes: unshardedAxes(shape ?? []) };
    }
    const value = options.constants.get(id);
    if (value === undefined) return { code: nameOf(tensor), axes: shardedAxes(tensor, options) };
    return givenConstant(tensor, value, dialect, files);
  };
  return { given: new Map(inputs.map(tensor => [tensor.id, givenOf(tensor)])), files };
}

/**
 * Checks that the weights, if there are any, have a parameter's values. They may have another dtype.
 * @throws InvalidShapeError for weights without a tensor of the parameter's name and shape.
 */
function checkWeight(name: string, shape: LogicalTensor['shape'], weights: MappedOptions['weights']): void {
  if (!weights) return;
  const found = weights.get(name)?.shape;
  if (found && shape?.join() === found.join()) return;
  const rule = `must have '${name}' with the shape [${shape}] of the parameter`;
  throw new InvalidShapeError('options.weights', `${rule}, got ${found ? `[${found}]` : 'no such tensor'}`);
}

/**
 * A constant: a number in the text, or a tensor from a file.
 * @throws InvalidArgumentError, InvalidDTypeError or InvalidShapeError for a value that the tensor cannot
 * have.
 */
function givenConstant(
  tensor: LogicalTensor,
  value: Tensor | number | bigint,
  dialect: Dialect,
  files: Map<string, Tensor>,
): PyTensor {
  const { id, dtype, shape } = tensor;
  const own = shape ?? [];
  const numbers = isScalarValue(value) ? scalarTensor(tensor, value) : value;
  checkBound(tensor, numbers, { ...storageDesc(tensor), strides: numbers?.strides });
  if (dtype === 'i64' && elementCount(own) === 1) {
    const [low = 0, high = 0] = numbers.toFloat64();
    return { code: `${joinU64([low, high])}`, axes: [] };
  }
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

import { elementCount } from '@tilewise/core';
import { broadcastShapes } from '../../../../ir/tensor/shape.ts';
import { elementTypeOf, floatType, int64Type } from '../file/element-type.ts';
import { numbersOf, type TensorRecord } from '../file/tensor-record.ts';
import type { NodeCall, NodeResult, OnnxOperator } from '../node-call.ts';
import { folded, type HostTensor, hostTensor } from '../value.ts';
import { moved } from './indexing/moved.ts';

/** The result of an operator that changes the shape and keeps the elements in row-major order. */
function reshaped(call: NodeCall, shape: readonly number[]): NodeResult {
  const { type, host, tensor, shape: from } = call.input(0);
  if (elementCount(from) !== elementCount(shape)) call.fail(`cannot reshape [${from}] to [${shape}]`);
  return {
    ...{ type, shape },
    fold: host && (() => ({ shape, values: host().values })),
    emit: () => call.draft.reshape(tensor(), shape),
  };
}

/** Numbers that are known as soon as the shapes are. */
const known = (type: NodeResult['type'], host: HostTensor): NodeResult => ({
  ...{ type, shape: host.shape, isStatic: true },
  fold: () => host,
});

/** A list of numbers that are known as soon as the shapes are. */
const knownList = (type: NodeResult['type'], values: readonly number[]): NodeResult =>
  known(type, { shape: [values.length], values });

/** A constant with numbers from the file. */
function constantOf(call: NodeCall, record: TensorRecord): NodeResult {
  const { data, shape, type } = record;
  if (!(data instanceof Uint8Array)) return call.refuse('is a constant whose data is in another file');
  return { type, shape, fold: () => ({ shape, values: numbersOf(record, data) }) };
}

const constant: OnnxOperator = call => {
  const record = call.attribute('value', 'tensor');
  if (record) return constantOf(call, record);
  const float = call.attribute('value_float', 'float');
  if (float !== undefined) return known(floatType, { shape: [], values: [float] });
  const int = call.attribute('value_int', 'int');
  if (int !== undefined) return known(int64Type, { shape: [], values: [int] });
  const floats = call.attribute('value_floats', 'floats');
  if (floats) return knownList(floatType, floats);
  const ints = call.ints('value_ints');
  if (ints) return knownList(int64Type, ints);
  return call.refuse('has a value that is not a tensor of numbers');
};

/** The extents from dimension `start` to `end`, by default all. */
const shapeOperator: OnnxOperator = call => {
  const { shape } = call.input(0);
  return knownList(int64Type, shape.slice(call.int('start', 0), call.int('end', shape.length)));
};

const reshapeOperator: OnnxOperator = call => {
  const { shape } = call.input(0);
  const target = call.version < 5 ? [...(call.ints('shape') ?? [])] : call.numbers(1);
  const keepsZeros = call.flag('allowzero', false);
  const extents = target.map((n, d) =>
    n === 0 && !keepsZeros ? (shape[d] ?? call.fail(`has no dimension ${d} to keep`)) : n,
  );
  const free = extents.indexOf(-1);
  if (extents.some((n, d) => n < 0 && d !== free)) call.fail(`cannot reshape [${shape}] to [${target}]`);
  if (free >= 0) {
    const others = elementCount(extents.filter((_, d) => d !== free));
    extents[free] = others === 0 ? 0 : elementCount(shape) / others;
    if (!Number.isInteger(extents[free])) call.fail(`cannot reshape [${shape}] to [${target}]`);
  }
  return reshaped(call, extents);
};

const unsqueeze: OnnxOperator = call => {
  const { shape } = call.input(0);
  const given = call.axes() ?? call.fail('needs axes');
  const rank = shape.length + given.length;
  const axes = new Set(given.map(axis => call.axis(axis, rank)));
  if (axes.size !== given.length) call.fail(`names an axis twice: [${given}]`);
  const rest = [...shape];
  return reshaped(
    call,
    Array.from({ length: rank }, (_, d) => (axes.has(d) ? 1 : (rest.shift() ?? 1))),
  );
};

const squeeze: OnnxOperator = call => {
  const { shape } = call.input(0);
  const axes = call.axes()?.map(axis => call.axis(axis, shape.length));
  const wrong = axes?.find(d => shape[d] !== 1);
  if (wrong !== undefined) call.fail(`cannot remove dimension ${wrong} of [${shape}]`);
  return reshaped(
    call,
    shape.filter((extent, d) => (axes ? !axes.includes(d) : extent !== 1)),
  );
};

const flatten: OnnxOperator = call => {
  const { shape } = call.input(0);
  const given = call.int('axis', 1);
  const axis = given === shape.length ? given : call.axis(given, shape.length);
  return reshaped(call, [elementCount(shape.slice(0, axis)), elementCount(shape.slice(axis))]);
};

const transposeOperator: OnnxOperator = call => {
  const value = call.input(0);
  const { shape } = value;
  const order = (call.ints('perm') ?? shape.map((_, d) => shape.length - 1 - d)).map(d =>
    call.axis(d, shape.length),
  );
  if (new Set(order).size !== shape.length)
    call.fail(`perm [${order}] must name each of ${shape.length} dimensions`);
  const to = order.map(d => shape[d]);
  const place = (index: readonly number[]): number[] => shape.map((_, d) => index[order.indexOf(d)]);
  return moved(value, to, place, () => call.draft.transpose(value.tensor(), order));
};

const expandOperator: OnnxOperator = call => {
  const value = call.input(0);
  const shape = broadcastShapes(value.shape, call.numbers(1)) ?? [];
  return moved(
    value,
    shape,
    index => index,
    () => call.draft.expand(value.tensor(), shape),
  );
};

const constantOfShape: OnnxOperator = call => {
  const shape = call.numbers(0);
  if (shape.some(n => n < 0)) call.fail(`cannot have the shape [${shape}]`);
  const record = call.attribute('value', 'tensor');
  const type = record?.type ?? floatType;
  if (record && !(record.data instanceof Uint8Array))
    call.refuse('has a value whose data is in another file');
  const value = record?.data instanceof Uint8Array ? (numbersOf(record, record.data)[0] ?? 0) : 0;
  return {
    ...{ type, shape },
    fold: () => hostTensor(shape, () => value),
    isStatic: true,
    emit: () => call.draft.inline([value], shape, type.dtype),
  };
};

const range: OnnxOperator = call => {
  const [start = 0, limit = 0, step = 1] = [0, 1, 2].map(n => call.numbers(n)[0] ?? 0);
  if (step === 0) call.fail('has a step of 0');
  const count = Math.max(0, Math.ceil((limit - start) / step));
  if (!Number.isSafeInteger(count)) call.fail(`goes from ${start} to ${limit} by ${step}`);
  return known(
    call.input(0).type,
    hostTensor([count], ([n = 0]) => start + n * step),
  );
};

/** The lower or upper triangle of the last two dimensions. */
const trilu: OnnxOperator = call => {
  const value = call.input(0);
  const { type, shape } = value;
  const upper = call.flag('upper', true);
  const k = call.has(1) ? (call.numbers(1)[0] ?? 0) : 0;
  const [rows = 1, columns = 1] = shape.slice(-2);
  const keeps = (i: number, j: number): boolean => (upper ? j >= i + k : j <= i + k);
  return {
    ...{ type, shape },
    fold: folded([value], shape, read => index => {
      const [i = 0, j = 0] = index.slice(-2);
      return keeps(i, j) ? read(index) : 0;
    }),
    emit: () => {
      const src = value.tensor();
      const { values } = hostTensor([rows, columns], ([i = 0, j = 0]) => Number(keeps(i, j)));
      const triangle = Array.from(values);
      const cond = call.draft.inline(triangle, [rows, columns], 'bool');
      const whole = call.draft.op('Expand', [cond], { shape });
      return call.draft.select(whole, src, call.draft.scalar(0, src.dtype));
    },
  };
};

/** 1 on a diagonal, and 0 elsewhere. */
const eyeLike: OnnxOperator = call => {
  const { shape, type: own } = call.input(0);
  const number = call.int('dtype', 0);
  const type = number === 0 ? own : (elementTypeOf(number) ?? call.refuse(`has the element type ${number}`));
  const k = call.int('k', 0);
  return known(
    type,
    hostTensor(shape, ([i = 0, j = 0]) => Number(j - i === k)),
  );
};

const size: OnnxOperator = call =>
  known(int64Type, { shape: [], values: [elementCount(call.input(0).shape)] });

/** Operators that compute shapes, or tensors from shapes. */
export const shapeOperators: Readonly<Record<string, OnnxOperator>> = {
  Constant: constant,
  ConstantOfShape: constantOfShape,
  Expand: expandOperator,
  EyeLike: eyeLike,
  Flatten: flatten,
  Range: range,
  Reshape: reshapeOperator,
  Shape: shapeOperator,
  Size: size,
  Squeeze: squeeze,
  Transpose: transposeOperator,
  Trilu: trilu,
  Unsqueeze: unsqueeze,
};

import {
  checkObject,
  checkOneOf,
  InvalidArgumentError,
  InvalidDTypeError,
  InvalidShapeError,
} from '../errors.ts';
import { checkShape } from '../tensor/checks/check-tensor.ts';
import { dtypeInfo } from '../tensor/dtype/dtype.ts';
import type { Shape } from '../tensor/shape.ts';
import type { TensorDesc } from '../tensor/tensor.ts';
import type { Primitive, RowsPrimitive } from './primitive.ts';

const arity: Readonly<
  Record<Primitive['kind'], readonly [inputs: number | null, outputs: readonly number[] | null]>
> = {
  map: [null, [1]],
  reduce: [null, [1]],
  rows: [null, null],
  matmul: [null, [1]],
  softmax: [1, [1, 2]],
  random: [null, [1]],
  'scatter-add': [2, [1]],
  'tensor-scatter': [2, [1]],
};

/**
 * Checks that tensors fit a primitive.
 * @throws InvalidArgumentError for an unknown primitive or a wrong number of tensors; InvalidShapeError or
 * InvalidDTypeError naming the tensor.
 */
export function checkPrimitive(
  primitive: Primitive,
  inputs: readonly TensorDesc[],
  outputs: readonly TensorDesc[],
): void {
  checkObject('primitive', primitive);
  const kind = checkOneOf('primitive.kind', primitive.kind, Object.keys(arity) as Primitive['kind'][]);
  const [takes, gives] = arity[kind];
  if (takes !== null && inputs.length !== takes) {
    throw new InvalidArgumentError(
      'inputs',
      `must have length ${takes} for ${primitive.kind}, got ${inputs.length}`,
    );
  }
  if (gives && !gives.includes(outputs.length)) {
    const rule = `must have length ${gives.join(' or ')} for ${primitive.kind}, got ${outputs.length}`;
    throw new InvalidArgumentError('outputs', rule);
  }
  const [output] = outputs;
  switch (primitive.kind) {
    case 'map':
      return;
    case 'reduce':
      checkShape('outputs[0]', output.shape, keptShape(primitive));
      return;
    case 'rows': {
      const { outputs: wanted, domain } = primitive;
      if (outputs.length !== wanted.length) {
        throw new InvalidArgumentError('outputs', `must have length ${wanted.length}, got ${outputs.length}`);
      }
      for (const [n, { shape }] of outputs.entries()) {
        const expected = typeof wanted[n] === 'number' ? keptShape(primitive) : domain;
        checkShape(`outputs[${n}]`, shape, expected);
      }
      return;
    }
    case 'matmul': {
      const { terms = 1, result } = primitive;
      const matrices = 2 * terms;
      if (inputs.length < matrices || (inputs.length > matrices && !result)) {
        throw new InvalidArgumentError(
          'inputs',
          `must have length ${matrices} for matmul, got ${inputs.length}`,
        );
      }
      for (let n = 0; n < matrices; n += 2) checkMatMul(inputs.slice(n, n + 2), output);
      return;
    }
    case 'softmax': {
      const [source] = inputs;
      checkShape('outputs[0]', output.shape, source.shape);
      const stats = keptShape({ domain: source.shape, axes: [primitive.axis] });
      if (outputs[1]) checkShape('outputs[1]', outputs[1].shape, stats);
      return;
    }
    case 'random': {
      const [seed, offset, p] = inputs;
      checkShape('seed', seed.shape, [2]);
      checkShape('offset', offset.shape, [2]);
      if (primitive.distribution === 'bernoulli') checkShape('p', p.shape, []);
      return;
    }
    case 'scatter-add': {
      const [indices, updates] = inputs;
      checkShape('updates', updates.shape, [indices.shape[0], output.shape[1]]);
      if (dtypeInfo[indices.dtype].kind !== 'integer') {
        throw new InvalidDTypeError('indices', `must be integers, got ${indices.dtype}`);
      }
      return;
    }
    case 'tensor-scatter':
      checkTensorScatter(primitive.axis, inputs, output);
  }
}

/** The shape of a reduction's result. */
export function keptShape({ domain, axes }: Pick<RowsPrimitive, 'domain' | 'axes'>): Shape {
  return domain.map((n, d) => (axes.includes(d) ? 1 : n));
}

function checkMatMul([a, b]: readonly TensorDesc[], c: TensorDesc): void {
  for (const [name, t] of [
    ['A', a],
    ['B', b],
    ['C', c],
  ] as const) {
    if (t.shape.length < 2) throw new InvalidShapeError(name, `must have rank 2 or more, got [${t.shape}]`);
  }
  const [m, k] = a.shape.slice(-2);
  const [depth, n] = b.shape.slice(-2);
  if (k !== depth) {
    const rule = `must have ${k} rows, because A has ${k} columns, got shape [${b.shape}]`;
    throw new InvalidShapeError('B', rule);
  }
  checkShape('C', c.shape.slice(-2), [m, n]);
}

function checkTensorScatter(axis: number, [update, first]: readonly TensorDesc[], output: TensorDesc): void {
  const count = update.shape[axis] ?? 0;
  checkShape(
    'update',
    update.shape,
    output.shape.map((n, d) => (d === axis ? Math.min(count, n) : n)),
  );
  checkShape('first', first.shape, output.shape.slice(0, 1));
  if (axis < 1) throw new InvalidArgumentError('axis', `must be 1 or more, got ${axis}`);
  if (update.dtype !== output.dtype) {
    const rule = `must be ${output.dtype}, the dtype of the output, got ${update.dtype}`;
    throw new InvalidDTypeError('update', rule);
  }
  if (dtypeInfo[first.dtype].kind !== 'integer')
    throw new InvalidDTypeError('first', `must be integers, got ${first.dtype}`);
}

import {
  checkObject,
  checkOneOf,
  InvalidArgumentError,
  InvalidDTypeError,
  InvalidShapeError,
} from '../errors.ts';
import type { Expr } from '../expr/nodes/expr.ts';
import { loads } from '../expr/nodes/walk.ts';
import { checkShape } from '../tensor/checks/check-tensor.ts';
import { dtypeInfo } from '../tensor/dtype/dtype.ts';
import type { Shape } from '../tensor/shape.ts';
import type { TensorDesc } from '../tensor/tensor.ts';
import { inputName } from './element.ts';
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
 * Checks that tensors fit a primitive. An input of a map or of a reduction may have any shape if its
 * expressions read the input at computed indices only.
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
  if (takes !== null) checkCount('inputs', inputs, takes, kind);
  if (gives && !gives.includes(outputs.length)) {
    const rule = `must have length ${gives.join(' or ')} for ${primitive.kind}, got ${outputs.length}`;
    throw new InvalidArgumentError('outputs', rule);
  }
  const [output] = outputs;
  switch (primitive.kind) {
    case 'map':
      checkReads([primitive.value], inputs, output.shape);
      return;
    case 'reduce':
      checkShape('outputs[0]', output.shape, keptShape(primitive));
      checkReads([primitive.element], inputs, primitive.domain);
      return;
    case 'rows': {
      const { outputs: wanted, domain, reductions } = primitive;
      const maps = wanted.filter(own => typeof own !== 'number');
      checkReads([...reductions.map(({ element }) => element), ...maps], inputs, domain);
      checkCount('outputs', outputs, wanted.length, kind);
      for (const [n, { shape }] of outputs.entries()) {
        const expected = typeof wanted[n] === 'number' ? keptShape(primitive) : domain;
        checkShape(`outputs[${n}]`, shape, expected);
      }
      return;
    }
    case 'matmul': {
      const { terms = 1, result } = primitive;
      const matrices = 2 * terms;
      if (inputs.length < matrices || !result) checkCount('inputs', inputs, matrices, kind);
      for (let n = 0; n < matrices; n += 2) checkMatMul(inputs.slice(n, n + 2), output);
      for (let n = matrices; n < inputs.length; n++)
        checkBroadcast(`inputs[${n}]`, inputs[n].shape, output.shape);
      return;
    }
    case 'softmax': {
      const [source] = inputs;
      checkOneOf('axis', primitive.axis, [...source.shape.keys()]);
      checkShape('outputs[0]', output.shape, source.shape);
      const stats = keptShape({ domain: source.shape, axes: [primitive.axis] });
      if (outputs[1]) checkShape('outputs[1]', outputs[1].shape, stats);
      return;
    }
    case 'random': {
      const [seed, offset, p] = inputs;
      const isBernoulli = primitive.distribution === 'bernoulli';
      checkCount('inputs', inputs, isBernoulli ? 3 : 2, kind);
      checkShape('seed', seed.shape, [2]);
      checkShape('offset', offset.shape, [2]);
      if (isBernoulli) checkShape('p', p.shape, []);
      return;
    }
    case 'scatter-add': {
      const [indices, updates] = inputs;
      checkShape('updates', updates.shape, [indices.shape[0], output.shape[1]]);
      checkIntegers('indices', indices);
      return;
    }
    case 'tensor-scatter':
      checkTensorScatter(primitive.axis, inputs, output);
  }
}

function checkCount(
  argument: 'inputs' | 'outputs',
  { length }: readonly TensorDesc[],
  count: number,
  kind: Primitive['kind'],
): void {
  if (length !== count)
    throw new InvalidArgumentError(argument, `must have length ${count} for ${kind}, got ${length}`);
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
    checkBroadcast(name, t.shape.slice(0, -2), c.shape.slice(0, -2));
  }
  const [m, k] = a.shape.slice(-2);
  const [depth, n] = b.shape.slice(-2);
  if (k !== depth) {
    throw new InvalidShapeError('B', `must have ${k} rows, as many as A has columns, got [${b.shape}]`);
  }
  checkShape('C', c.shape.slice(-2), [m, n]);
}

/** Checks that the inputs which expressions read without an index broadcast to the domain. */
function checkReads(exprs: readonly Expr[], inputs: readonly TensorDesc[], domain: Shape): void {
  const here = exprs.flatMap(loads).filter(({ index }) => index.length === 0);
  inputs.forEach(({ shape }, n) => {
    if (here.some(({ name }) => name === inputName(n))) checkBroadcast(`inputs[${n}]`, shape, domain);
  });
}

function checkBroadcast(argument: string, from: Shape, to: Shape): void {
  const lead = to.length - from.length;
  if (lead < 0 || from.some((n, d) => n !== 1 && n !== to[lead + d]))
    throw new InvalidShapeError(argument, `must broadcast to [${to}], got [${from}]`);
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
  checkIntegers('first', first);
}

function checkIntegers(argument: string, { dtype }: TensorDesc): void {
  if (dtypeInfo[dtype].kind !== 'integer')
    throw new InvalidDTypeError(argument, `must be integers, got ${dtype}`);
}

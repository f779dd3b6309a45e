import { describeValue, InvalidArgumentError, InvalidShapeError, Tensor } from '@tilewise/core';
import { Graph } from '../../graph.ts';
import type { Attributes } from '../../ir/schema/attribute.ts';
import { checkOperation } from '../../ir/schema/check.ts';
import type { Operation } from '../../ir/schema/operation.ts';
import type { PortSchema } from '../../ir/schema/ports.ts';
import type { GraphDType } from '../../ir/tensor/dtype.ts';
import { isKnown, type LogicalTensor } from '../../ir/tensor/logical-tensor.ts';
import { scalarTensor } from '../../ir/tensor/storage.ts';
import { connect, type Topology } from '../../ir/topology.ts';
import { operationOf } from '../../ops/table.ts';

/**
 * A tensor of a function that is being traced. Operations take and return variables. Shape and dtype are
 * known; the values are not.
 */
export class Variable {
  /** The extent of each dimension. */
  readonly shape: readonly number[];
  /** The trace that the variable belongs to. */
  readonly trace: Trace;
  /** The tensor of the graph that is being traced. */
  readonly tensor: LogicalTensor;

  /** Call an operation. @internal */
  constructor(trace: Trace, tensor: LogicalTensor, shape: readonly number[]) {
    this.trace = trace;
    this.tensor = tensor;
    this.shape = shape;
  }

  /** The dtype of the elements. */
  get dtype(): GraphDType {
    return this.tensor.dtype;
  }

  /** Refuses `x + 1` and `x > y`: JavaScript would compute with the text of an object. */
  [Symbol.toPrimitive](): never {
    throw new InvalidArgumentError('fn', 'must call add(x, y) or greater(x, y) instead of x + y or x > y');
  }
}

/**
 * An operand of an operation: a variable, or a number or host tensor, which becomes a constant. Seeds and
 * offsets may be bigints.
 */
export type Operand = Variable | Tensor | number | bigint;

/**
 * @param or what else the argument may be, for the error.
 * @throws InvalidArgumentError unless `value` is a variable of `trace`.
 */
export function checkVariable(argument: string, value: unknown, trace: Trace, or = ''): void {
  if (value instanceof Variable && value.trace === trace) return;
  throw new InvalidArgumentError(
    argument,
    `must be a variable of the traced function${or}, got ${describeOperand(value)}`,
  );
}

/**
 * Describes a wrong operand. All arguments of a function are in one object, which callers forget to take
 * apart.
 */
function describeOperand(value: unknown): string {
  if (value instanceof Variable) return 'one of another';
  return holdsVariables(value)
    ? `all arguments: write ({ ${Object.keys(value).join(', ')} }) => …`
    : describeValue(value);
}

/** Whether a value is the object of a function's arguments. */
export function holdsVariables(value: unknown): value is object {
  const isObject = typeof value === 'object' && value !== null;
  return isObject && Object.values(value).some(entry => entry instanceof Variable);
}

/** A graph while a function writes it. */
export class Trace {
  readonly graph: Graph = new Graph();
  /** Constants by tensor id. They may be views, also of one number as a large tensor. */
  readonly constants: Map<number, Tensor> = new Map();
  /** The ids of tensors that a backward pass recomputes. */
  readonly recomputed: Set<number> = new Set();
  readonly #numbers = new Map<string, Variable>();

  /** Adds an input to the graph. */
  input(shape: readonly number[], dtype: GraphDType, name: string): Variable {
    return new Variable(this, this.graph.tensor({ name, dtype, shape }), shape);
  }

  /**
   * Adds a tensor that is the same in every run. A number takes the dtype of the other operands.
   * @throws InvalidArgumentError for a number that the dtype does not have.
   */
  constant(value: Tensor | number | bigint, dtype: GraphDType = 'f32'): Variable {
    if (!(value instanceof Tensor)) {
      const key = `${dtype} ${Object.is(value, -0) ? '-0' : value}`;
      const known = this.#numbers.get(key) ?? this.input([], dtype, 'constant');
      this.#numbers.set(key, known);
      this.bindConstant(known.tensor, value);
      return known;
    }
    const variable = this.input(value.shape, value.dtype, 'constant');
    this.constants.set(variable.tensor.id, value);
    return variable;
  }

  /** Sets the value of a scalar that other code added to the graph. */
  bindConstant(tensor: LogicalTensor, value: number | bigint): void {
    this.constants.set(tensor.id, scalarTensor(tensor, value));
  }

  /**
   * Adds an operation. The shapes of its outputs are inferred immediately, so that an error comes from the
   * line that caused it.
   * @param results the number of results, or their dtypes. Default: those that the operation always has.
   * @param dtype the dtype of the first result, unless `results` has it.
   * @throws InvalidOperationError or InvalidShapeError if operands or attributes do not fit.
   */
  apply(
    kind: string,
    operands: readonly Operand[],
    attrs: Attributes,
    results?: number | readonly GraphDType[],
    dtype?: GraphDType,
  ): readonly Variable[] {
    // Kinds come from the functions of `operations.ts`, graphs and gradients.
    const operation = operationOf(kind) as Operation;
    const letters = lettersOf(operation, operands);
    const inputs = operands.map((operand, n) =>
      this.#operand(operand, portOf(operation.inputs, n), letters, kind),
    );
    const given = typeof results === 'object' ? results : [dtype];
    const required = operation.outputs.filter(port => !port.optional && !port.variadic);
    const asked = typeof results === 'number' ? results : (results ?? required).length;
    // The backward pass of attention starts from the stats of its softmax. Unread stats are removed.
    const ports = Array.from({ length: kind === 'SoftMax' ? 2 : asked }, (_, n) =>
      portOf(operation.outputs, n),
    );
    const bounds = lettersOf(operation, inputs);
    const first = leading(operands, inputs)?.dtype;
    const dtypes = ports.map(({ type, among }, n) => {
      if (given[n] !== undefined) return given[n];
      const bound = bounds.get(type) ?? first;
      return bound !== undefined && among.includes(bound) ? bound : among[0];
    });
    const outputs = dtypes.map(type => this.graph.tensor({ dtype: type }));
    const known = inputs.map(({ tensor, shape }) => ({ ...tensor, shape }));
    const attributes = checkOperation(kind, operation, attrs, known, outputs, inCamelCase);
    const shapes = operation.infer({ attributes, inputs: known, outputs }).map(shape => {
      if (!isKnown(shape)) throw new InvalidShapeError(kind, 'has a result whose shape cannot be inferred');
      return shape;
    });
    const { outputs: made } = this.graph.add({
      kind,
      attrs,
      inputs: inputs.map(({ tensor }) => tensor),
      outputs: outputs.map((tensor, n) => ({ ...tensor, shape: shapes[n] })),
    });
    return made.slice(0, asked).map((tensor, n) => new Variable(this, tensor, shapes[n]));
  }

  /** How the operations so far are connected. */
  topology(): Topology {
    return connect(this.graph.nodes, new Map());
  }

  #operand(
    value: Operand,
    port: PortSchema,
    letters: ReadonlyMap<string, GraphDType>,
    kind: string,
  ): Variable {
    if (isNumber(value)) {
      // Seeds and offsets, whose only dtype is i64, would be rounded in f32.
      const [only, another] = port.among;
      return this.constant(value, letters.get(port.type) ?? (another ? 'f32' : only));
    }
    if (value instanceof Tensor) return this.constant(value);
    checkVariable(`an operand of ${kind}`, value, this, ', a tensor or a number');
    return value;
  }
}

/** The name of an attribute as functions take it, such as `keepDims`. */
const inCamelCase = (name: string): string => name.replace(/_./g, ([, letter]) => letter.toUpperCase());

/** Whether an operand is a number, which has no dtype of its own. */
export function isNumber(operand: Operand): operand is number | bigint {
  return typeof operand === 'number' || typeof operand === 'bigint';
}

/**
 * The operand whose dtype a result has by default, as in PyTorch: a float before an integer, which a fraction
 * makes f32 too. Other numbers have no dtype of their own: 1 + x has that of x, like x + 1.
 */
function leading(operands: readonly Operand[], inputs: readonly Variable[]): Variable | undefined {
  const own = inputs.filter((_, n) => !isNumber(operands[n]));
  return (
    own.find(({ dtype }) => dtype.includes('f')) ??
    inputs.find((_, n) => isNumber(operands[n]) && Number(operands[n]) % 1) ??
    own[0] ??
    inputs[0]
  );
}

function portOf<P>(ports: readonly P[], n: number): P {
  return ports[Math.min(n, ports.length - 1)];
}

/** The dtypes of an operation's port letters, from the operands that have a dtype. */
function lettersOf({ inputs }: Operation, operands: readonly Operand[]): Map<string, GraphDType> {
  const letters = new Map<string, GraphDType>();
  operands.forEach((operand, n) => {
    const { type } = portOf(inputs, n);
    // A caller without types may pass null, which `apply` refuses.
    if (operand && !isNumber(operand) && type && !letters.has(type)) letters.set(type, operand.dtype);
  });
  return letters;
}

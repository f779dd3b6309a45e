import { type Shape, sameShape, type TensorDesc } from '@tilewise/core';
import type { Expr } from '@tilewise/core/expr';
import type { Primitive } from '@tilewise/core/primitive';
import type { Program } from '../../ir/program/program.ts';
import { type Axis, copies, ExportError, isSharded, rolesOf, unshardedAxes } from './tensors/axes.ts';
import { elementAt } from './tensors/element-writer.ts';
import { ATOM, atom, literal, PRODUCT, type PythonExpr, pythonExpr, within } from './tensors/expression.ts';
import {
  aligned,
  axesTuple,
  drawn,
  loaded,
  type ModelLines,
  type PyTensor,
  stored,
  tuple,
  unshardedAlong,
} from './tensors/tensor.ts';
import { broadcastAxes, unviewed, viewed } from './tensors/views.ts';

/** Writes the steps of a program as Python lines. */
export class ProgramWriter {
  readonly program: Program;
  readonly lines: ModelLines;
  readonly #tensors = new Map<number, PyTensor>();

  constructor(program: Program, lines: ModelLines) {
    this.program = program;
    this.lines = lines;
  }

  /** A value in the shape of its description. */
  read(index: number): PyTensor {
    const root = this.rootOf(index);
    const tensor = this.#rootTensor(root);
    if (root === index) return tensor;
    const { desc } = this.program.values[index];
    const whole = drawn(tensor);
    const { isShare, value } = whole;
    return {
      ...viewed(whole, this.program.values[root].desc.shape, desc, this.lines.dialect),
      ...(isShare && { isShare }),
      ...(value !== undefined && { value }),
    };
  }

  desc(index: number): TensorDesc {
    return this.program.values[index].desc;
  }

  /** The value that owns a value's memory. */
  rootOf(index: number): number {
    const value = this.program.values[index];
    return value.kind === 'view' ? this.rootOf(value.of) : index;
  }

  #rootTensor(root: number): PyTensor {
    const known = this.#tensors.get(root);
    if (known) return known;
    const value = this.program.values[root];
    if (value.kind === 'input') return this.lines.tensor(value.tensor);
    if (value.kind === 'constant') {
      const made = this.lines.constant(value);
      this.#tensors.set(root, made);
      return made;
    }
    throw new ExportError('reads a tensor before it is computed');
  }

  /** Assigns an expression to a value, in the shape of the value's description. */
  assign(index: number, given: PyTensor & { readonly level?: number }): void {
    const root = this.rootOf(index);
    const { level = ATOM } = given;
    const tensor = root === index ? given : { ...given, code: within({ code: given.code, level }, ATOM) };
    const value = this.program.values[root];
    const seen = tensor.draw
      ? tensor
      : unviewed(tensor, value.desc.shape, this.program.values[index].desc, this.lines.dialect);
    const isShare = tensor.isShare === true;
    const draw = tensor.draw;
    const isName = value.kind !== 'output' && /^\w+$/.test(seen.code);
    const code = value.kind === 'output' ? `t${value.tensor}` : isName ? seen.code : this.lines.name();
    if (!draw && !isName) this.lines.line(`${code} = ${seen.code}`);
    const made = { code, axes: seen.axes, ...(isShare && { isShare }), ...(draw && { draw }) };
    this.#tensors.set(root, made);
    if (value.kind === 'output') this.lines.setTensor(value.tensor, made);
  }

  /** A scalar of the graph as a number: a literal if its value is known. */
  number(index: number, type: 'int' | 'float'): string {
    const tensor = this.#rootTensor(this.rootOf(index));
    if (tensor.value !== undefined) {
      return type === 'int' ? `${tensor.value}` : literal(Math.fround(tensor.value)).code;
    }
    return /^-?\d+$/.test(tensor.code) ? tensor.code : this.lines.dialect.scalar(tensor.code, type);
  }

  primitive(primitive: Primitive, inputs: readonly number[], outputs: readonly number[]): void {
    const [output] = outputs;
    const { dtype, shape } = this.program.values[output].desc;
    switch (primitive.kind) {
      case 'map': {
        const made = this.#element(primitive.value, inputs, shape);
        this.assign(output, { ...made, ...stored(this.lines.dialect, made, primitive.value.type, dtype) });
        break;
      }
      case 'reduce':
        this.#reduce(primitive, inputs, output);
        break;
      case 'matmul':
        this.#matmul(inputs, output);
        break;
      case 'softmax':
        this.#softmax(primitive, inputs[0], outputs);
        break;
      case 'random':
        this.#random(primitive.distribution, inputs, output);
        break;
      case 'scatter-add': {
        const [indices, updates] = inputs.map(n => this.unsharded(n, 'adds rows'));
        const sums = `scatter_rows(${indices.code}, ${updates.code}, ${shape[0]})`;
        this.assign(output, { code: sums, axes: unshardedAxes(shape) });
        break;
      }
      case 'tensor-scatter': {
        const [past, update, first] = [output, ...inputs].map(n => this.unsharded(n, 'writes a slice'));
        const code = `tensor_scatter(${past.code}, ${update.code}, ${first.code}, ${primitive.axis})`;
        this.assign(output, { code, axes: unshardedAxes(shape) });
        break;
      }
    }
  }

  /** A value; no axis of it may be sharded. */
  unsharded(index: number, what: string): PyTensor {
    return unshardedAlong(this.read(index), what);
  }

  /** Evaluates an expression at all positions of a domain. */
  #element(expr: Expr, inputs: readonly number[], domain: Shape): PyTensor & PythonExpr {
    const operands = inputs.map(index => ({
      read: () => this.read(index),
      dtype: this.program.values[index].desc.dtype,
    }));
    return elementAt(expr, operands, domain, this.lines);
  }

  #reduce(
    { op, axes: over, domain, element, result }: Extract<Primitive, { kind: 'reduce' }>,
    inputs: readonly number[],
    output: number,
  ): void {
    const made = this.#element(element, inputs, domain);
    if (op !== 'sum') unshardedAlong(made, `takes the ${op}`, over);
    const isShare = made.isShare === true || over.some(d => isSharded(made.axes[d]));
    const root = this.rootOf(output);
    const dropped = domain.filter((_, d) => !over.includes(d));
    const { shape, dtype } = this.program.values[root].desc;
    const keeps = op === 'prod' || root === output || !sameShape(shape, dropped);
    const list = over.length === 1 ? `${over[0]}` : tuple(over.map(String));
    const receiver = within(made, ATOM);
    const { dialect } = this.lines;
    const whole =
      op === 'prod'
        ? `product(${made.code}, ${tuple(over.map(String))})`
        : dialect.reduce(op, receiver, list, keeps);
    // Ranks along a role that does not shard the sum have equal sums, of which each gives its part.
    const own = rolesOf(made.axes);
    const isCopied = isShare && !made.isShare && this.lines.roles.some(role => !own.includes(role));
    const code = isCopied ? `${whole} / ${copies(made.axes)}` : whole;
    const reducedAxes = made.axes.flatMap((axis, d) => (over.includes(d) ? (keeps ? [[]] : []) : [axis]));
    const value = pythonExpr(result, {
      dialect,
      copies: copies(reducedAxes),
      load: () => ({ ...atom(code, isShare), ...(isCopied && { level: PRODUCT }) }),
      variable: name => atom(name),
      named: text => text,
    });
    this.assign(keeps ? output : root, {
      ...stored(this.lines.dialect, value, result.type, dtype),
      axes: reducedAxes,
      ...(isShare && { isShare }),
    });
  }

  #matmul(inputs: readonly number[], output: number): void {
    const [a, b] = inputs.map(n => this.read(n));
    const { dtype, shape } = this.program.values[output].desc;
    unshardedAlong(a, 'takes products', [a.axes.length - 1]);
    unshardedAlong(b, 'takes products', [b.axes.length - 2]);
    const batch = broadcastAxes(shape.slice(0, -2), [a.axes.slice(0, -2), b.axes.slice(0, -2)]);
    const operandCode = (operand: PyTensor, n: number): string => {
      const own = aligned(operand, [...batch, ...operand.axes.slice(-2)]);
      return loaded(this.lines.dialect, own.code, this.program.values[inputs[n]].desc.dtype);
    };
    const product = { code: `${operandCode(a, 0)} @ ${operandCode(b, 1)}`, level: PRODUCT };
    this.assign(output, {
      ...stored(this.lines.dialect, product, 'f32', dtype),
      axes: [...batch, a.axes.at(-2) ?? [], b.axes.at(-1) ?? []],
    });
  }

  #softmax(
    { axis, log, mode }: Extract<Primitive, { kind: 'softmax' }>,
    input: number,
    outputs: readonly number[],
  ): void {
    const x = unshardedAlong(this.read(input), `takes the ${log ? 'log-softmax' : 'softmax'}`, [axis]);
    const source = loaded(this.lines.dialect, x.code, this.program.values[input].desc.dtype);
    const [dst, stats] = outputs;
    const dtype = this.program.values[dst].desc.dtype;
    if (stats === undefined && mode === 'none') {
      const code = this.lines.dialect.softmax(source, axis, log);
      this.assign(dst, { ...stored(this.lines.dialect, atom(code), 'f32', dtype), axes: x.axes });
      return;
    }
    if (log)
      throw new ExportError('has stats of a log-softmax as a result, which an export has no function for');
    const [p, s] = [this.lines.name(), this.lines.name()];
    this.lines.line(
      `${p}, ${s} = softmax(${source}, ${axis}, zero_rows=${mode === 'none' ? 'False' : 'True'})`,
    );
    this.assign(dst, { ...stored(this.lines.dialect, atom(p), 'f32', dtype), axes: x.axes });
    if (stats === undefined) return;
    this.assign(stats, { code: s, axes: x.axes.map((own, d) => (d === axis ? [] : own)) });
  }

  #random(distribution: 'bernoulli' | 'uniform', inputs: readonly number[], output: number): void {
    const [seed, offset, p] = inputs;
    const stream = `${this.number(seed, 'int')}, ${this.number(offset, 'int')}`;
    const { shape, dtype } = this.program.values[output].desc;
    const probability = p === undefined ? '' : this.number(p, 'float');
    const draw = (axes: readonly Axis[]): string => {
      const list = axesTuple(axes);
      if (distribution === 'uniform')
        return stored(this.lines.dialect, atom(`place.uniform(${stream}, ${list})`), 'f32', dtype).code;
      const keep = `place.keep(Dropout(${probability}, ${stream}), ${list})`;
      return dtype === 'bool' ? keep : this.lines.dialect.cast(keep, dtype);
    };
    this.assign(output, { code: '', axes: unshardedAxes(shape), draw });
  }
}

import { type DType, dtypeInfo, type Shape, sameShape } from '@tilewise/core';
import type { Expr, ExprType, LoadExpr } from '@tilewise/core/expr';
import { nodes } from '@tilewise/core/expr';
import type { Primitive } from '@tilewise/core/primitive';
import { exprType } from '../../ir/program/expr.ts';
import type { Program, ProgramValue } from '../../ir/program/program.ts';
import {
  type Axis,
  CutError,
  extentOf,
  factorList,
  isCut,
  localExtent,
  localShape,
  sameAxis,
  wholeAxes,
  wholeAxis,
} from './axes.ts';
import { ATOM, atom, literal, PRODUCT, type PythonExpr, pythonExpr, within } from './python-expr.ts';
import { broadcastAxes, unviewed, viewed } from './views.ts';

/** A tensor of the model under construction. */
export interface PyTensor {
  readonly code: string;
  readonly axes: readonly Axis[];
  /** Whether each rank has a share, of which the sum over ranks is meant. */
  readonly isShare?: boolean;
  /** The one number that it is, where that is known. */
  readonly value?: number;
  /** Random numbers, which are drawn for the part that is wanted. */
  readonly draw?: (axes: readonly Axis[]) => string;
}

/** Where lines of Python go, and what the tensors of the graph are there. */
export interface ModelLines {
  line(text: string): void;
  /** A call, on as many lines as it takes. */
  call(start: string, args: readonly string[]): void;
  /** A name that nothing has. */
  name(): string;
  /** A tensor of the graph that was computed before, an input, a parameter or a constant. */
  tensor(id: number): PyTensor;
  setTensor(id: number, tensor: PyTensor): void;
  /** A constant of the graph's own, as code. */
  constant(value: Extract<ProgramValue, { kind: 'constant' }>): PyTensor;
}

const torchNames: Readonly<Record<DType, string>> = {
  ...{ f32: 'float32', f16: 'float16', bf16: 'bfloat16', f8e4m3: 'float8_e4m3fn', f8e5m2: 'float8_e5m2' },
  ...{ i32: 'int32', u32: 'int64', i8: 'int8', u8: 'uint8', bool: 'bool' },
};

/** A dtype in Python. An u32 is an int64 there, since PyTorch does not compute with its uint32. */
export function torchDType(dtype: DType): string {
  return `torch.${torchNames[dtype]}`;
}

/** Writes the steps of a program as lines of Python. */
export class ProgramWriter {
  readonly program: Program;
  readonly lines: ModelLines;
  readonly #tensors = new Map<number, PyTensor>();

  constructor(program: Program, lines: ModelLines) {
    this.program = program;
    this.lines = lines;
  }

  /** A value, in the shape of its description. */
  read(index: number): PyTensor {
    const root = this.rootOf(index);
    const tensor = this.#rootTensor(root);
    if (root === index) return tensor;
    const { desc } = this.program.values[index];
    const whole = tensor.draw ? { ...tensor, code: tensor.draw(tensor.axes) } : tensor;
    const { isShare, value } = whole;
    return {
      ...viewed(whole, this.program.values[root].desc.shape, desc),
      ...(isShare && { isShare }),
      ...(value !== undefined && { value }),
    };
  }

  /** The value whose memory another one is in. */
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
    throw new CutError('reads a tensor before it is computed');
  }

  /** Gives a value what an expression computes, in the shape of the value's description. */
  assign(index: number, given: PyTensor & { readonly level?: number }): void {
    const root = this.rootOf(index);
    const { level = ATOM } = given;
    const tensor = root === index ? given : { ...given, code: within({ code: given.code, level }, ATOM) };
    const value = this.program.values[root];
    const seen = tensor.draw ? tensor : unviewed(tensor, value.desc.shape, this.program.values[index].desc);
    const isShare = tensor.isShare === true;
    const draw = tensor.draw;
    const isName = value.kind !== 'output' && /^\w+$/.test(seen.code);
    const code = value.kind === 'output' ? `t${value.tensor}` : isName ? seen.code : this.lines.name();
    if (!draw && !isName) this.lines.line(`${code} = ${seen.code}`);
    const made = { code, axes: seen.axes, ...(isShare && { isShare }), ...(draw && { draw }) };
    this.#tensors.set(root, made);
    if (value.kind === 'output') this.lines.setTensor(value.tensor, made);
  }

  /** A number that scalars of the graph are read as: a literal where it is known. */
  number(index: number, type: 'int' | 'float'): string {
    const tensor = this.#rootTensor(this.rootOf(index));
    if (tensor.value !== undefined) {
      return type === 'int' ? `${tensor.value}` : literal(Math.fround(tensor.value)).code;
    }
    return /^-?\d+$/.test(tensor.code) ? tensor.code : `${type}(${tensor.code})`;
  }

  primitive(primitive: Primitive, inputs: readonly number[], outputs: readonly number[]): void {
    const [output] = outputs;
    const { dtype, shape } = this.program.values[output].desc;
    switch (primitive.kind) {
      case 'map': {
        const made = this.#element(primitive.value, inputs, shape);
        this.assign(output, { ...made, ...stored(made, primitive.value.type, dtype) });
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
        const [indices, updates] = inputs.map(n => this.whole(n, 'adds rows'));
        const sums = `scatter_rows(${indices.code}, ${updates.code}, ${shape[0]})`;
        this.assign(output, { code: sums, axes: wholeAxes(shape) });
        break;
      }
      case 'tensor-scatter': {
        const [past, update, first] = [output, ...inputs].map(n => this.whole(n, 'writes a part'));
        const code = `tensor_scatter(${past.code}, ${update.code}, ${first.code}, ${primitive.axis})`;
        this.assign(output, { code, axes: wholeAxes(shape) });
        break;
      }
    }
  }

  /** A value of which no axis may be cut. */
  whole(index: number, what: string): PyTensor {
    const tensor = this.read(index);
    const d = tensor.axes.findIndex(isCut);
    if (d >= 0) throw new CutError(`${what} along axis ${d}, which is cut: ${factorList(tensor.axes[d])}`);
    if (tensor.isShare) throw new CutError(`${what} of a sum over ranks`);
    return tensor.draw ? { ...tensor, code: tensor.draw(tensor.axes) } : tensor;
  }

  /** The part of a tensor that goes with axes, to which it broadcasts. */
  aligned(tensor: PyTensor, axes: readonly Axis[]): PyTensor {
    const lead = axes.length - tensor.axes.length;
    if (tensor.draw) {
      const own = tensor.axes.map((axis, d) => (extentOf(axis) > 1 ? axes[lead + d] : axis));
      return { code: tensor.draw(own), axes: own };
    }
    let { code } = tensor;
    const own = tensor.axes.map((axis, d) => {
      const wanted = axes[lead + d];
      if (extentOf(axis) <= 1 || sameAxis(axis, wanted) || !isCut(wanted)) return axis;
      if (isCut(axis))
        throw new CutError(`has operands that are cut in different ways along axis ${lead + d}`);
      code = `place.cut(${code}, ${d}, ${factorList(wanted)})`;
      return wanted;
    });
    return { ...tensor, code, axes: own };
  }

  /** What an expression is at all places of a domain. */
  #element(expr: Expr, inputs: readonly number[], domain: Shape): PyTensor & PythonExpr {
    const reads = nodes(expr).filter((e): e is LoadExpr => e.kind === 'load');
    const inputOf = (e: LoadExpr): number | null =>
      /^x\d+$/.test(e.name) ? inputs[Number(e.name.slice(1))] : null;
    const axes = broadcastAxes(
      domain,
      reads.flatMap(e => {
        const input = inputOf(e);
        if (input === null) return [];
        const tensor = this.read(input);
        if (tensor.draw) return [];
        if (e.index.length === 0) return [tensor.axes];
        return [
          domain.map((_, d) => tensor.axes[e.index.findIndex(index => coordinateOf(index) === d)] ?? []),
        ];
      }),
    );
    const covered = new Set<number>();
    const made = pythonExpr(expr, {
      named: code => {
        const name = this.lines.name();
        this.lines.line(`${name} = ${code}`);
        return name;
      },
      variable: name => {
        throw new CutError(`reads '${name}' outside of attention`);
      },
      load: (e, write) => {
        if (e.name === 'coordinate') {
          const d = coordinateOf(e) ?? 0;
          if (domain[d] > 1) covered.add(d);
          return domain[d] === 1 ? literal(0, 'i32') : atom(positions(axes, d));
        }
        const input = inputOf(e);
        if (input === null) throw new CutError(`reads '${e.name}', which is nothing here`);
        const tensor = this.read(input);
        const { dtype } = this.program.values[input].desc;
        if (tensor.value !== undefined) return literal(tensor.value, e.type);
        if (e.index.length === 0) {
          const lead = domain.length - tensor.axes.length;
          for (const [d, axis] of tensor.axes.entries()) {
            if (extentOf(axis) > 1 || domain[lead + d] === 1) covered.add(lead + d);
          }
          return atom(loaded(this.aligned(tensor, axes).code, dtype), tensor.isShare);
        }
        return atom(loaded(this.#loadAt(e, inputs, domain, tensor, axes, covered, write), dtype));
      },
    });
    // Broadcasting leaves out extents of 1 only where no operand has them.
    const first = Math.min(...covered);
    const missing = domain.some((extent, d) => !covered.has(d) && (extent > 1 || d < first));
    const full =
      made.value !== undefined
        ? `torch.full(${tuple(axes.map(localExtent))}, ${made.code}, device=place.device)`
        : missing
          ? `${within(made, ATOM)}.expand(${localShape(axes)})`
          : null;
    return { ...made, axes, ...(full !== null && { code: full, level: ATOM }), value: undefined };
  }

  /** An element at an index: neighbours along leading axes are a reshape, all else is gathered. */
  #loadAt(
    e: LoadExpr,
    inputs: readonly number[],
    domain: Shape,
    tensor: PyTensor,
    axes: readonly Axis[],
    covered: Set<number>,
    write: (index: Expr) => PythonExpr,
  ): string {
    const part = partOf(e, tensor, domain);
    if (part) {
      const rest = axes.length - e.index.length;
      const padded = [...part.axes, ...new Array<Axis>(rest).fill([])];
      for (const [d, extent] of domain.entries()) {
        if (extent === 1 || extentOf(padded[d]) > 1) covered.add(d);
      }
      const code = rest === 0 ? part.code : `${part.code}.reshape(${localShape(padded)})`;
      return this.aligned({ ...part, code, axes: padded }, axes).code;
    }
    const rows = this.#rowsAt(e, inputs, domain, tensor, covered);
    if (rows !== null) return rows;
    const places = e.index.map((index, k) => {
      const d = coordinateOf(index);
      if (!isCut(tensor.axes[k])) return write(index).code;
      if (d === null || !sameAxis(tensor.axes[k], axes[d])) {
        throw new CutError(`gathers along axis ${k}, which is cut: ${factorList(tensor.axes[k])}`);
      }
      covered.add(d);
      const local = `torch.arange(${localExtent(axes[d])}, device=place.device)`;
      return column(local, axes.length, d);
    });
    return `take(${[tensor.code, ...places].join(', ')})`;
  }

  /**
   * Whole rows, as an embedding reads them: their numbers alone are computed. Null where more than the first
   * index is.
   */
  #rowsAt(
    e: LoadExpr,
    inputs: readonly number[],
    domain: Shape,
    { code, axes }: PyTensor,
    covered: Set<number>,
  ): string | null {
    const lead = domain.length - e.index.length + 1;
    const [row, ...rest] = e.index;
    const isRow = rest.every(
      (index, k) => coordinateOf(index) === lead + k && extentOf(axes[k + 1]) === domain[lead + k],
    );
    // A load without an index is at the place of the result, which has the last dimensions too.
    const isFree = nodes(row).every(
      x => (coordinateOf(x) ?? -1) < lead && (x.kind !== 'load' || x.index.length > 0),
    );
    if (lead < 1 || rest.length === 0 || !isRow || !isFree || axes.some(isCut)) return null;
    for (const d of domain.keys()) covered.add(d);
    return `take(${code}, ${this.#element(row, inputs, domain.slice(0, lead)).code})`;
  }

  #reduce(
    { op, axes: over, domain, element, result }: Extract<Primitive, { kind: 'reduce' }>,
    inputs: readonly number[],
    output: number,
  ): void {
    const made = this.#element(element, inputs, domain);
    const cut = over.filter(d => isCut(made.axes[d]));
    if (cut.length > 0 && op !== 'sum') {
      throw new CutError(
        `takes the ${op} over axis ${cut[0]}, which is cut: ${factorList(made.axes[cut[0]])}`,
      );
    }
    if (made.isShare && op !== 'sum') throw new CutError(`takes the ${op} of a sum over ranks`);
    const isShare = cut.length > 0 || made.isShare === true;
    const root = this.rootOf(output);
    const dropped = domain.filter((_, d) => !over.includes(d));
    const { shape, dtype } = this.program.values[root].desc;
    const keeps = op === 'prod' || root === output || !sameShape(shape, dropped);
    const list = over.length === 1 ? `${over[0]}` : tuple(over.map(String));
    const receiver = within(made, ATOM);
    const names = { sum: 'sum', max: 'amax', min: 'amin' } as const;
    const code =
      op === 'prod'
        ? `product(${made.code}, ${tuple(over.map(String))})`
        : `${receiver}.${names[op]}(${list}${keeps ? ', keepdim=True' : ''})`;
    const reducedAxes = made.axes.flatMap((axis, d) => (over.includes(d) ? (keeps ? [[]] : []) : [axis]));
    const value = pythonExpr(result, {
      load: () => atom(code, isShare),
      variable: name => atom(name),
      named: own => own,
    });
    this.assign(keeps ? output : root, {
      ...stored(value, result.type, dtype),
      axes: reducedAxes,
      ...(isShare && { isShare }),
    });
  }

  #matmul(inputs: readonly number[], output: number): void {
    const [a, b] = inputs.map(n => this.read(n));
    const { dtype, shape } = this.program.values[output].desc;
    for (const [operand, axis] of [
      [a, a.axes.length - 1],
      [b, b.axes.length - 2],
    ] as const) {
      if (isCut(operand.axes[axis]))
        throw new CutError(`sums over axis ${axis}, which is cut: ${factorList(operand.axes[axis])}`);
      if (operand.isShare) throw new CutError('multiplies a sum over ranks');
    }
    const batch = broadcastAxes(shape.slice(0, -2), [a.axes.slice(0, -2), b.axes.slice(0, -2)]);
    const operandCode = (operand: PyTensor, n: number): string => {
      const own = this.aligned(operand, [...batch, ...operand.axes.slice(-2)]);
      return loaded(own.code, this.program.values[inputs[n]].desc.dtype);
    };
    const product = { code: `${operandCode(a, 0)} @ ${operandCode(b, 1)}`, level: PRODUCT };
    this.assign(output, {
      ...stored(product, 'f32', dtype),
      axes: [...batch, a.axes.at(-2) ?? [], b.axes.at(-1) ?? []],
    });
  }

  #softmax(
    { axis, log, mode }: Extract<Primitive, { kind: 'softmax' }>,
    input: number,
    outputs: readonly number[],
  ): void {
    const x = this.read(input);
    if (isCut(x.axes[axis]))
      throw new CutError(`normalises axis ${axis}, which is cut: ${factorList(x.axes[axis])}`);
    if (x.isShare) throw new CutError('normalises a sum over ranks');
    const source = loaded(x.code, this.program.values[input].desc.dtype);
    const [dst, stats] = outputs;
    const dtype = this.program.values[dst].desc.dtype;
    if (stats === undefined && mode === 'none') {
      const code = `torch.${log ? 'log_softmax' : 'softmax'}(${source}, ${axis})`;
      this.assign(dst, { ...stored(atom(code), 'f32', dtype), axes: x.axes });
      return;
    }
    if (log) throw new CutError('gives stats of a logarithm, which PyTorch has no function for');
    const [p, s] = [this.lines.name(), this.lines.name()];
    this.lines.line(
      `${p}, ${s} = softmax(${source}, ${axis}, zero_rows=${mode === 'none' ? 'False' : 'True'})`,
    );
    this.assign(dst, { ...stored(atom(p), 'f32', dtype), axes: x.axes });
    if (stats === undefined) return;
    this.assign(stats, { code: s, axes: x.axes.map((own, d) => (d === axis ? [] : own)) });
  }

  #random(distribution: 'bernoulli' | 'uniform', inputs: readonly number[], output: number): void {
    const [seed, offset, p] = inputs;
    const stream = `${this.number(seed, 'int')}, ${this.number(offset, 'int')}`;
    const { shape, dtype } = this.program.values[output].desc;
    const probability = p === undefined ? '' : this.number(p, 'float');
    const draw = (axes: readonly Axis[]): string => {
      const list = tuple(axes.map(axis => `(${factorList(axis)},)`));
      if (distribution === 'uniform')
        return stored(atom(`place.uniform(${stream}, ${list})`), 'f32', dtype).code;
      const keep = `place.keep(Dropout(${probability}, ${stream}), ${list})`;
      return dtype === 'bool' ? keep : `${keep}.to(${torchDType(dtype)})`;
    };
    this.assign(output, { code: '', axes: wholeAxes(shape), draw });
  }
}

/** A tuple of Python. */
export function tuple(items: readonly string[]): string {
  return items.length === 1 ? `(${items[0]},)` : `(${items.join(', ')})`;
}

/** The dimension whose index an expression is; null for other expressions. */
function coordinateOf(e: Expr): number | null {
  if (e.kind !== 'load' || e.name !== 'coordinate') return null;
  const [d] = e.index;
  return d.kind === 'constant' ? Number(d.value) : null;
}

/** First and step of elements that lie along dimension d one after the other; null for other indices. */
function runOf(e: Expr, d: number): { readonly first: number; readonly step: number } | null {
  if (coordinateOf(e) === d) return { first: 0, step: 1 };
  if (e.kind !== 'binary' || e.b.kind !== 'constant') return null;
  const inner = runOf(e.a, d);
  const by = Number(e.b.value);
  if (!inner) return null;
  if (e.op === 'add') return { ...inner, first: inner.first + by };
  if (e.op === 'sub') return { ...inner, first: inner.first - by };
  return e.op === 'mul' ? { first: inner.first * by, step: inner.step * by } : null;
}

/** Elements one after the other along the leading axes as a part of a tensor; null for other indices. */
function partOf(e: LoadExpr, tensor: PyTensor, domain: Shape): PyTensor | null {
  let { code } = tensor;
  const axes = e.index.map((index, d): Axis | null => {
    const own = tensor.axes[d];
    const run = runOf(index, d);
    if (domain[d] === 1 && extentOf(own) === 1) return own;
    if (!run) return null;
    const { first, step } = run;
    if (first === 0 && step === 1 && domain[d] === extentOf(own)) return own;
    const end = first + (domain[d] - 1) * step + 1;
    if (isCut(own) || first < 0 || step < 1 || end > extentOf(own)) return null;
    code =
      step === 1
        ? `${code}.narrow(${d}, ${first}, ${domain[d]})`
        : `${code}[${':, '.repeat(d)}${first}:${end}:${step}]`;
    return wholeAxis(domain[d]);
  });
  const found = axes.filter(axis => axis !== null);
  return found.length < axes.length ? null : { ...tensor, code, axes: found };
}

/** A list as the d-th of so many dimensions. */
function column(code: string, rank: number, d: number): string {
  const after = new Array<string>(rank - 1 - d).fill('1');
  return after.length === 0 ? code : `${code}.view(${['-1', ...after].join(', ')})`;
}

/** The global numbers of the positions along an axis. */
function positions(axes: readonly Axis[], d: number): string {
  return column(`place.positions(${factorList(axes[d])})`, axes.length, d);
}

/** An element of a dtype as expressions compute with it. */
export function loaded(code: string, dtype: DType): string {
  const { kind } = dtypeInfo[dtype];
  if (kind === 'float') return dtype === 'f32' ? code : `${code}.float()`;
  return kind === 'integer' && dtype !== 'i32' ? `${code}.int()` : code;
}

/** A result of an expression in a dtype. */
function stored(e: PythonExpr, type: ExprType, dtype: DType): PythonExpr {
  if (exprType(dtype) === type && (dtype === 'f32' || dtype === 'i32' || dtype === 'bool')) return e;
  const isNarrow = type === 'f32' && (dtypeInfo[dtype].kind === 'integer' || dtype.startsWith('f8'));
  return atom(
    isNarrow ? `saturated(${e.code}, ${torchDType(dtype)})` : `${within(e, ATOM)}.to(${torchDType(dtype)})`,
  );
}

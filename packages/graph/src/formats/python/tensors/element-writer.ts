import type { DType, Shape } from '@tilewise/core';
import { type Expr, type LoadExpr, nodes } from '@tilewise/core/expr';
import {
  type Axis,
  copies,
  ExportError,
  extentOf,
  factorList,
  isSharded,
  localExtent,
  localShape,
  rolesOf,
  sameAxis,
  unshardedAxis,
} from './axes.ts';
import type { Dialect } from './dialect.ts';
import { ATOM, atom, literal, type PythonExpr, pythonExpr, within } from './expression.ts';
import { aligned, loaded, type ModelLines, type PyTensor, tuple } from './tensor.ts';
import { broadcastAxes } from './views.ts';

/** An operand of an elementwise expression. */
export interface ElementOperand {
  readonly dtype: DType;
  read(): PyTensor;
}

/** Evaluates an expression at all positions of a domain. */
export function elementAt(
  expr: Expr,
  operands: readonly ElementOperand[],
  domain: Shape,
  lines: ModelLines,
): PyTensor & PythonExpr {
  return new ElementWriter(operands, domain, lines).write(expr);
}

class ElementWriter {
  readonly #operands: readonly ElementOperand[];
  readonly #domain: Shape;
  readonly #lines: ModelLines;
  /** The dimensions that the operands read so far have. */
  readonly #covered = new Set<number>();

  constructor(operands: readonly ElementOperand[], domain: Shape, lines: ModelLines) {
    this.#operands = operands;
    this.#domain = domain;
    this.#lines = lines;
  }

  write(expr: Expr): PyTensor & PythonExpr {
    const domain = this.#domain;
    const { dialect } = this.#lines;
    const axes = this.#axesOf(expr);
    const made = pythonExpr(expr, {
      dialect,
      copies: copies(axes),
      named: code => {
        const name = this.#lines.name();
        this.#lines.line(`${name} = ${code}`);
        return name;
      },
      variable: name => {
        throw new ExportError(`reads '${name}' outside of attention`);
      },
      load: (e, write) => this.#load(e, axes, write),
    });
    // The result lacks a dimension, or its full extent, if no operand has it.
    const first = Math.min(...this.#covered);
    const missing = domain.some((extent, d) => !this.#covered.has(d) && (extent > 1 || d < first));
    const full =
      made.value !== undefined
        ? dialect.full(tuple(axes.map(localExtent)), made.code)
        : missing
          ? dialect.expand(within(made, ATOM), localShape(axes))
          : null;
    return { ...made, axes, ...(full !== null && { code: full, level: ATOM }), value: undefined };
  }

  #operandOf(e: LoadExpr): ElementOperand | undefined {
    return /^x\d+$/.test(e.name) ? this.#operands[Number(e.name.slice(1))] : undefined;
  }

  /** The axes of the result, from the operands that are read at the result's own position. */
  #axesOf(expr: Expr): Axis[] {
    const reads = nodes(expr).filter((e): e is LoadExpr => e.kind === 'load');
    const own = reads.flatMap(e => {
      const tensor = this.#operandOf(e)?.read();
      if (!tensor || tensor.draw) return [];
      if (e.index.length === 0) return [tensor.axes];
      const places = e.index.map(coordinateOf);
      return [this.#domain.map((_, d) => tensor.axes[places.indexOf(d)] ?? [])];
    });
    return broadcastAxes(this.#domain, own);
  }

  #load(e: LoadExpr, axes: readonly Axis[], write: (index: Expr) => PythonExpr): PythonExpr {
    const domain = this.#domain;
    if (e.name === 'coordinate') {
      const d = coordinateOf(e) ?? 0;
      if (domain[d] === 1) return literal(0, 'i32');
      this.#covered.add(d);
      return atom(column(`place.positions(${factorList(axes[d])})`, axes.length, d));
    }
    const operand = this.#operandOf(e);
    if (!operand) throw new ExportError(`reads '${e.name}', which is not an operand`);
    const tensor = operand.read();
    if (tensor.value !== undefined) return literal(tensor.value, e.type);
    if (tensor.isShare && `${rolesOf(tensor.axes)}` !== `${rolesOf(axes)}`)
      throw new ExportError('combines a sum over ranks with a tensor that is sharded over these ranks');
    const { dialect } = this.#lines;
    if (e.index.length > 0) {
      return atom(loaded(dialect, this.#loadAt(e, tensor, axes, write), operand.dtype), tensor.isShare);
    }
    const lead = domain.length - tensor.axes.length;
    for (const [d, axis] of tensor.axes.entries()) {
      if (extentOf(axis) > 1 || domain[lead + d] === 1) this.#covered.add(lead + d);
    }
    return atom(loaded(dialect, aligned(tensor, axes).code, operand.dtype), tensor.isShare);
  }

  /**
   * Reads an element at an index: evenly spaced elements along leading axes are a view; others are gathered.
   */
  #loadAt(e: LoadExpr, tensor: PyTensor, axes: readonly Axis[], write: (index: Expr) => PythonExpr): string {
    const domain = this.#domain;
    const { dialect } = this.#lines;
    const part = partOf(e, tensor, domain, dialect);
    if (part) {
      const rest = axes.length - e.index.length;
      const padded = [...part.axes, ...new Array<Axis>(rest).fill([])];
      for (const [d, extent] of domain.entries()) {
        if (extent === 1 || extentOf(padded[d]) > 1) this.#covered.add(d);
      }
      const code = rest === 0 ? part.code : `${part.code}.reshape(${localShape(padded)})`;
      return aligned({ ...part, code, axes: padded }, axes).code;
    }
    const rows = this.#rowsAt(e, tensor);
    if (rows !== null) return rows;
    const places = e.index.map((index, k) => {
      const d = coordinateOf(index);
      if (!isSharded(tensor.axes[k])) return write(index).code;
      if (d === null || !sameAxis(tensor.axes[k], axes[d])) {
        throw new ExportError(`gathers along axis ${k}, which is sharded: ${factorList(tensor.axes[k])}`);
      }
      this.#covered.add(d);
      return column(dialect.range(localExtent(axes[d])), axes.length, d);
    });
    return `take(${[tensor.code, ...places].join(', ')})`;
  }

  /**
   * Reads whole rows, as an embedding does, so that only row indices are computed. Null if more than the
   * first index is computed.
   */
  #rowsAt(e: LoadExpr, { code, axes }: PyTensor): string | null {
    const domain = this.#domain;
    const lead = domain.length - e.index.length + 1;
    const [row, ...rest] = e.index;
    const isRow = rest.every(
      (index, k) => coordinateOf(index) === lead + k && extentOf(axes[k + 1]) === domain[lead + k],
    );
    // A load without an index reads at the position of the result, which includes the last dimensions.
    const isFree = nodes(row).every(
      x => (coordinateOf(x) ?? -1) < lead && (x.kind !== 'load' || x.index.length > 0),
    );
    if (lead < 1 || rest.length === 0 || !isRow || !isFree || axes.some(isSharded)) return null;
    for (const d of domain.keys()) this.#covered.add(d);
    return `take(${code}, ${elementAt(row, this.#operands, domain.slice(0, lead), this.#lines).code})`;
  }
}

/** The dimension whose index an expression is; null for other expressions. */
function coordinateOf(e: Expr): number | null {
  if (e.kind !== 'load' || e.name !== 'coordinate') return null;
  const [d] = e.index;
  return d.kind === 'constant' ? Number(d.value) : null;
}

/** The first index and the step of evenly spaced elements along dimension d; null for other indices. */
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

/** Evenly spaced elements along the leading axes as a part of a tensor; null for other indices. */
function partOf(e: LoadExpr, tensor: PyTensor, domain: Shape, dialect: Dialect): PyTensor | null {
  let { code } = tensor;
  const axes = e.index.map((index, d): Axis | null => {
    const own = tensor.axes[d];
    const run = runOf(index, d);
    // An index that an operand gives may be out of range, and then the element has no gradient.
    const isInRange = nodes(index).every(e => e.kind !== 'load' || e.name === 'coordinate');
    if (domain[d] === 1 && extentOf(own) === 1 && isInRange) return own;
    if (!run) return null;
    const { first, step } = run;
    if (first === 0 && step === 1 && domain[d] === extentOf(own)) return own;
    const end = first + (domain[d] - 1) * step + 1;
    if (isSharded(own) || first < 0 || step < 1 || end > extentOf(own)) return null;
    code =
      step === 1
        ? dialect.narrow(code, d, first, domain[d])
        : `${code}[${':, '.repeat(d)}${first}:${end}:${step}]`;
    return unshardedAxis(domain[d]);
  });
  const found = axes.filter(axis => axis !== null);
  return found.length < axes.length ? null : { ...tensor, code, axes: found };
}

/** Reshapes a list so that it runs along dimension d of `rank` dimensions. */
function column(code: string, rank: number, d: number): string {
  const after = new Array<string>(rank - 1 - d).fill('1');
  return after.length === 0 ? code : `${code}.reshape(${['-1', ...after].join(', ')})`;
}

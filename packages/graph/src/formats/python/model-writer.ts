import type { Tensor } from '@tilewise/core';
import { writeMatch, writeOperations } from '../../compile/compile.ts';
import { groupOperations, type OperationGroup } from '../../compile/partition.ts';
import { InvalidGraphError, UnsupportedOperationError } from '../../errors.ts';
import { describeNode, type GraphNode } from '../../ir/node.ts';
import { exprType } from '../../ir/program/expr.ts';
import type { Program, ProgramValue } from '../../ir/program/program.ts';
import { storageDType } from '../../ir/tensor/dtype.ts';
import type { LogicalTensor } from '../../ir/tensor/logical-tensor.ts';
import type { Topology } from '../../ir/topology.ts';
import { boundary } from '../../runtime/partitions/boundary-tensors.ts';
import { AttentionWriter } from './attention/attention-writer.ts';
import { commented } from './names.ts';
import { ProgramWriter } from './program-writer.ts';
import { ExportError, type Role, unshardedAxes } from './tensors/axes.ts';
import type { Dialect } from './tensors/dialect.ts';
import { atom, literal } from './tensors/expression.ts';
import {
  aligned,
  drawn,
  loaded,
  type ModelLines,
  type PyTensor,
  stored,
  tuple,
  unshardedAlong,
} from './tensors/tensor.ts';

/** The maximum length of a line of the model's body, without its indentation of 8. */
const LONGEST = 100;

/** Writes the operations of a graph as the body of a Python function. */
export class ModelWriter implements ModelLines {
  readonly lines: string[] = [];
  /** The functions and descriptions of attention, which come before the model. */
  readonly definitions: string[] = [];
  /** Constants that are read from a file, by their names in that file. */
  readonly constants: Map<string, Tensor> = new Map();
  readonly #tensors: Map<number, PyTensor>;
  readonly #topology: Topology;
  readonly #shaped: ReadonlyMap<number, LogicalTensor>;
  readonly dialect: Dialect;
  readonly roles: readonly Role[];
  #names = 0;

  /**
   * @param shaped the tensors of the graph, with their shapes.
   * @param given the inputs, parameters and constants in Python, by tensor id.
   * @param roles the roles along which ranks may be placed.
   */
  constructor(
    topology: Topology,
    shaped: ReadonlyMap<number, LogicalTensor>,
    given: ReadonlyMap<number, PyTensor>,
    dialect: Dialect,
    roles: readonly Role[],
  ) {
    this.dialect = dialect;
    this.#topology = topology;
    this.#shaped = shaped;
    this.#tensors = new Map(given);
    this.roles = roles;
  }

  /** @throws UnsupportedOperationError naming the operation that cannot be exported. */
  write(): void {
    for (const group of groupOperations(this.#topology, 'fusion')) this.#group(group);
  }

  line(text: string): void {
    this.lines.push(text);
  }

  call(start: string, args: readonly string[]): void {
    const one = `${start}(${args.join(', ')})`;
    if (one.length <= LONGEST) this.line(one);
    else this.lines.push(`${start}(`, ...args.map(arg => `    ${arg},`), ')');
  }

  name(): string {
    this.#names++;
    return `x${this.#names}`;
  }

  tensor(id: number): PyTensor {
    const tensor = this.#tensors.get(id);
    if (!tensor) throw new InvalidGraphError(`tensor ${id} is not computed before it is read`);
    return tensor;
  }

  setTensor(id: number, tensor: PyTensor): void {
    this.#tensors.set(id, tensor);
  }

  constant({ data }: Extract<ProgramValue, { kind: 'constant' }>): PyTensor {
    const values = data.toFloat64();
    const [first = 0] = values;
    const axes = unshardedAxes(data.shape);
    if (values.every(x => Object.is(x, first))) {
      return {
        code: this.dialect.full(tuple(data.shape.map(String)), literal(first, exprType(data.dtype)).code),
        axes,
        value: first,
      };
    }
    const name = `constant_${this.constants.size}`;
    this.constants.set(name, data);
    return { code: this.dialect.constant(name), axes };
  }

  #group({ nodes, match }: OperationGroup): void {
    const form = match?.form;
    const refused = form && form.pass !== 'backward' ? this.#attention(nodes, match) : null;
    if (refused === 'written') return;
    for (const node of nodes) {
      if (node.kind === 'End') continue;
      try {
        this.#operation(node);
      } catch (error) {
        if (!(error instanceof ExportError)) throw error;
        // The reason why recognised attention cannot be one call is more helpful than the error of one of its
        // operations.
        throw new UnsupportedOperationError(describeNode(node), refused ?? error.message);
      }
    }
  }

  /**
   * Writes recognised attention as one call. If that is impossible, it writes nothing and returns the reason.
   */
  #attention(nodes: readonly GraphNode[], match: NonNullable<OperationGroup['match']>): string {
    if (!match.form) return 'is not one attention call';
    const before = [this.lines.length, this.definitions.length];
    const known = new Map(this.#tensors);
    const dense = (tensors: readonly LogicalTensor[]): LogicalTensor[] =>
      tensors.map(({ id }) => this.#dense(id));
    const { inputs, outputs } = boundary(nodes, new Set(nodes), this.#topology);
    const group = { nodes, match, topology: this.#topology, inputs: dense(inputs), outputs: dense(outputs) };
    const written = writeMatch(group, match.form, this.#shaped);
    if (typeof written === 'string') return written;
    try {
      this.#program(written, nodes[nodes.length - 1]);
      return 'written';
    } catch (error) {
      if (!(error instanceof ExportError)) throw error;
      this.lines.length = before[0];
      this.definitions.length = before[1];
      for (const { id } of outputs) this.#tensors.delete(id);
      for (const [id, tensor] of known) this.#tensors.set(id, tensor);
      return error.message;
    }
  }

  #operation(node: GraphNode): void {
    if (!node.operation.lower)
      throw new ExportError(`has no equivalent in ${this.dialect.library}: its computation is unknown`);
    if (this.#function(node)) return;
    const dense = (tensors: readonly LogicalTensor[]): LogicalTensor[] => [
      ...new Map(tensors.map(({ id }) => [id, this.#dense(id)])).values(),
    ];
    const group = { nodes: [node], inputs: dense(node.inputs), outputs: dense(node.outputs) };
    this.#program(writeOperations(group, this.#shaped), node);
  }

  /** Writes an operation as a Python call if its row of the table has one. */
  #function(node: GraphNode): boolean {
    const [src, ...others] = node.inputs.map(({ id }) => this.#dense(id));
    const [dst] = node.outputs.map(({ id }) => this.#dense(id));
    const { attributes } = node;
    const call = node.operation.python?.({ attributes, inputs: [src, ...others], outputs: node.outputs });
    if (!call) return false;
    const first = unshardedAlong(this.tensor(src.id), 'computes', call.whole);
    const args = [src, ...others].map(({ id, dtype }) => {
      const tensor = id === src.id ? first : aligned(this.tensor(id), first.axes);
      return loaded(this.dialect, tensor.code, storageDType(dtype));
    });
    const options = Object.entries(call.options).map(([name, value]) => {
      return `${name}=${typeof value === 'boolean' ? (value ? 'True' : 'False') : value}`;
    });
    const made = atom(`${call.name}(${[...args, ...options].join(', ')})`);
    const { code } = stored(this.dialect, made, 'f32', storageDType(dst.dtype));
    this.line(`t${dst.id} = ${code}${labelOf(node, node.kind)}`);
    this.setTensor(dst.id, { code: `t${dst.id}`, axes: first.axes });
    return true;
  }

  #program(program: Program, node: GraphNode): void {
    const from = this.lines.length;
    const writer = new ProgramWriter(program, this);
    for (const step of program.steps) {
      if (step.kind === 'primitive') writer.primitive(step.primitive, step.inputs, step.outputs);
      else if (step.kind === 'attention-call') this.#attentionWriter(writer, node).call(step);
      else if (step.kind === 'sdpa') this.#attentionWriter(writer, node).step(step);
      else throw new ExportError('is a gradient of attention: export the forward graph');
    }
    for (const value of program.values) {
      if (value.kind === 'output' && !this.#tensors.has(value.tensor))
        throw new ExportError('has a result that the program does not compute');
    }
    const isAttention = program.steps.some(({ kind }) => kind !== 'primitive');
    if (this.lines.length > from) this.lines[from] += labelOf(node, isAttention ? 'attention' : node.kind);
  }

  #attentionWriter(writer: ProgramWriter, node: GraphNode): AttentionWriter {
    return new AttentionWriter(writer, this.definitions, node.id);
  }

  #dense(id: number): LogicalTensor {
    const tensor = this.#shaped.get(id);
    if (!tensor) throw new InvalidGraphError(`tensor ${id} is not in this graph`);
    return { ...tensor, strides: null };
  }

  /** The lines, without those whose results nothing reads. */
  body(results: readonly string[]): string[] {
    const read = new Set(results.flatMap(text => text.match(/\w+/g) ?? []));
    const kept: string[] = [];
    for (const line of [...this.lines].reverse()) {
      const [, own, code] = /^(x\d+) = (.*)$/.exec(line) ?? [];
      if (own !== undefined && !read.has(own)) continue;
      for (const word of (code ?? line).match(/\w+/g) ?? []) read.add(word);
      kept.push(line);
    }
    return kept.reverse();
  }

  /** A result as the model returns it; random numbers that nothing has read yet are drawn. */
  result(id: number): PyTensor {
    const tensor = drawn(this.tensor(id));
    // Positions have 64 bits in PyTorch.
    const isPosition = this.#shaped.get(id)?.dtype === 'i32';
    return isPosition ? { ...tensor, code: this.dialect.cast(tensor.code, 'i32') } : tensor;
  }

  /** Whether a tensor has been computed; tensors inside an attention call have not. */
  has(id: number): boolean {
    return this.#tensors.has(id);
  }
}

/** The comment at the end of a line, which names the value that the line computes. */
function labelOf({ name }: GraphNode, what: string): string {
  return `  # ${what}${name ? ` ${commented(name)}` : ''}`;
}

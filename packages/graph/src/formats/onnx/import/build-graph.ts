import { elementCount, type Tensor, TilewiseError } from '@tilewise/core';
import { InvalidGraphError, UnsupportedOperationError } from '../../../errors.ts';
import { Graph } from '../../../graph.ts';
import type { LogicalTensor } from '../../../ir/tensor/logical-tensor.ts';
import { brokenScalarRule } from '../../../ir/tensor/scalar.ts';
import { nodesFor, renamedBranch } from './branches.ts';
import { Draft } from './draft.ts';
import { type ElementType, elementTypeName, elementTypeOf } from './file/element-type.ts';
import type { ModelRecord, NodeRecord, ValueRecord } from './file/read-model.ts';
import { engineTensor, numbersOf, type TensorRecord, tensorOfNumbers } from './file/tensor-record.ts';
import { checkShape, type GivenInputs } from './given-inputs.ts';
import { NodeCall, type NodeResult } from './node-call.ts';
import { once } from './once.ts';
import { onnxOperatorOf } from './operators/table.ts';
import type { HostTensor, Value } from './value.ts';

/** A graph that was made of a model, for inputs of given shapes. */
export interface OnnxGraph {
  readonly graph: Graph;
  /** By the model's names. Inputs whose numbers became part of the graph are missing. */
  readonly inputs: Readonly<Record<string, LogicalTensor>>;
  readonly outputs: Readonly<Record<string, LogicalTensor>>;
  /** The weights, by the model's names: inputs of the graph, and what is to be bound to them. */
  readonly weights: Readonly<Record<string, { readonly tensor: LogicalTensor; readonly value: Tensor }>>;
  /**
   * The tensors to bind to those inputs of the graph that the model does not have (its weights and larger
   * constants), by tensor id.
   */
  readonly bindings: Readonly<Record<number, Tensor>>;
  /** Names of the inputs whose numbers became part of the graph, as shapes do. */
  readonly specialised: ReadonlySet<string>;
}

/** The most elements of a constant that stands in the graph itself. */
const mostInline = 64;
/** The most elements of a tensor without weights that is computed while a model is read. */
const mostFolded = 2 ** 20;

/**
 * Makes a graph of a model: every node becomes numbers, or operations of which those that the outputs need
 * are kept.
 */
export class GraphFromModel {
  readonly #model: ModelRecord;
  readonly #data: (tensor: TensorRecord) => Uint8Array;
  readonly #given: GivenInputs;
  readonly #draft = new Draft();
  readonly #values = new Map<string, Value>();
  readonly #inputs = new Map<string, LogicalTensor>();
  readonly #weights = new Map<string, { tensor: LogicalTensor; value: Tensor }>();
  readonly #constants = new Map<number, Tensor>();
  readonly #specialised = new Set<string>();

  /** @param data the bytes of a tensor, those in other files too. */
  constructor(model: ModelRecord, data: (tensor: TensorRecord) => Uint8Array, given: GivenInputs) {
    this.#model = model;
    this.#data = data;
    this.#given = given;
  }

  build(): OnnxGraph {
    const { initializers, inputs, nodes, outputs } = this.#model;
    for (const record of initializers) this.#define(this.#initializer(record));
    // Files of early versions list initializers among the inputs, too.
    for (const input of inputs) if (!this.#values.has(input.name)) this.#define(this.#input(input));
    const needed = nodesFor(
      nodes,
      outputs.map(({ name }) => name),
    );
    for (const node of nodes) {
      this.#node(node);
      if (needed.has(node)) this.#settle(node);
    }
    const results = outputs.map(({ name }) => {
      const value = this.#values.get(name);
      if (!value) throw new InvalidGraphError(`ONNX file: no node gives the output '${name}'`, name);
      return [name, value.tensor()] as const;
    });
    const graph = this.#draft.write(
      new Graph(),
      results.map(([, tensor]) => tensor),
    );
    const used = new Set(graph.inputs.map(({ id }) => id));
    const kept = <T>(all: ReadonlyMap<string, T>, idOf: (one: T) => number): Record<string, T> =>
      Object.fromEntries([...all].filter(([, one]) => used.has(idOf(one))));
    const weights = kept(this.#weights, ({ tensor }) => tensor.id);
    const constants = [...this.#constants].filter(([id]) => used.has(id));
    return {
      graph,
      inputs: kept(this.#inputs, ({ id }) => id),
      outputs: Object.fromEntries(results),
      weights,
      bindings: Object.fromEntries([
        ...constants,
        ...Object.values(weights).map(({ tensor, value }) => [tensor.id, value] as const),
      ]),
      specialised: this.#specialised,
    };
  }

  #define(value: Value): void {
    if (this.#values.has(value.name))
      throw new InvalidGraphError(`ONNX file: two nodes give '${value.name}'`, value.name);
    this.#values.set(value.name, value);
  }

  #initializer(record: TensorRecord): Value {
    const { name, type, shape } = record;
    const count = elementCount(shape);
    const host = once(() => ({ shape, values: numbersOf(record, this.#data(record)) }));
    const isWeight = type.kind === 'float' && count > 1;
    const tensor = once(() => {
      if (!isWeight) return this.#constant(host(), type, name);
      const made = this.#draft.tensor(type.dtype, shape, name, 'constant');
      this.#weights.set(name, { tensor: made, value: engineTensor(record, this.#data(record)) });
      return made;
    });
    return { name, type, shape, host, tensor, isWeight, isStatic: true };
  }

  #input({ name, type: number, shape: declared }: ValueRecord): Value {
    const type = number === null ? undefined : elementTypeOf(number);
    if (!type) {
      const what = number === null ? 'no tensor' : `a tensor of ${elementTypeName(number)}`;
      throw new UnsupportedOperationError(`input '${name}'`, `is ${what}, which engines do not take`);
    }
    const own = <T>(all: Readonly<Record<string, T>>): T | undefined =>
      Object.hasOwn(all, name) ? all[name] : undefined;
    const given = own(this.#given.values);
    const shape = own(this.#given.shapes) ?? given?.shape ?? declared;
    if (!shape || shape.some(extent => typeof extent !== 'number')) {
      const text = declared?.map(extent => extent ?? '?').join(', ') ?? '?';
      throw new InvalidGraphError(
        `input '${name}' is declared as [${text}]: give its shape, as shapes: { '${name}': […] }`,
        name,
      );
    }
    checkShape(name, declared, shape as readonly number[]);
    return {
      ...{ name, type, shape: shape as readonly number[] },
      ...{ isWeight: false, isStatic: false },
      host: given
        ? () => {
            this.#specialised.add(name);
            return given;
          }
        : null,
      tensor: once(() => {
        const made = this.#draft.tensor(type.dtype, shape as readonly number[], name);
        this.#inputs.set(name, made);
        return made;
      }),
    };
  }

  /**
   * Numbers as a tensor: small ones as an operation, larger ones as an input of the graph that is bound to
   * them.
   */
  #constant({ shape, values }: HostTensor, type: ElementType, name = ''): LogicalTensor {
    const { dtype } = type;
    const numbers = Float64Array.from(values);
    const isPlain = ['f32', 'f16', 'bf16', 'i32', 'bool'].includes(dtype);
    const first = numbers[0];
    const isUniform = first !== undefined && numbers.every(x => Object.is(x, first));
    const inline = isUniform ? [first] : [...numbers.slice(0, mostInline + 1)];
    const stands =
      inline.length > 0 &&
      inline.length <= mostInline &&
      inline.every(x => brokenScalarRule(dtype, x) === null);
    if (isPlain && stands && !inline.some(Number.isNaN))
      return this.#draft.op('Constant', [], { value: inline, shape }, dtype);
    const made = this.#draft.tensor(dtype, shape, name, 'constant');
    this.#constants.set(made.id, tensorOfNumbers(name || this.#draft.at.label, dtype, shape, numbers));
    return made;
  }

  /**
   * Makes the outputs of a node as far as they can be made now, in the order of the file: what is made only
   * when the outputs of the model ask for it asks node by node, one call within the other. What fails here
   * fails again where it is really needed.
   */
  #settle({ outputs }: NodeRecord): void {
    for (const name of outputs) {
      const value = this.#values.get(name);
      if (!value) continue;
      try {
        if (value.isStatic && !value.isWeight) value.host?.();
        else value.tensor();
      } catch (error) {
        if (!(error instanceof TilewiseError)) throw error;
      }
    }
  }

  #node(node: NodeRecord): void {
    const { domain, op, outputs } = node;
    const operator = onnxOperatorOf(domain, op);
    const inputs = node.inputs.map(name => {
      if (name === '') return null;
      const value = this.#values.get(name);
      if (!value)
        throw new InvalidGraphError(
          `ONNX file: ${op} '${node.name}' reads '${name}', which no node before it gives`,
          name,
        );
      return value;
    });
    const version = this.#model.opsets.get(domain);
    const constant = (host: HostTensor, type: ElementType): LogicalTensor => this.#constant(host, type);
    const call = new NodeCall(node, version ?? 1, { draft: this.#draft, constant }, inputs);
    if (!operator && op !== 'If')
      call.refuse(domain ? `is of the operator set '${domain}' and is not read` : 'is not read');
    if (version === undefined)
      call.fail(`is of the operator set '${domain}', which the model does not import`);
    this.#draft.at = call;
    if (domain === '' && op === 'If') {
      this.#branch(call);
      return;
    }
    const results = [operator?.(call) ?? []].flat();
    const from = {
      isWeight: inputs.some(value => value?.isWeight),
      isStatic: inputs.every(value => value?.isStatic ?? true),
    };
    for (const [n, name] of outputs.entries()) {
      if (name !== '')
        this.#define(this.#value(name, results[n] ?? call.fail(`has no output ${n}`), call, from));
    }
  }

  /** The nodes of the branch that a condition chooses, as nodes of the model. */
  #branch(call: NodeCall): void {
    const { node } = call;
    const condition = call.input(0);
    if (!condition.host)
      call.refuse(`chooses a branch by '${condition.name}', which only the run of the graph gives`);
    const name = call.numbers(0)[0] ? 'then_branch' : 'else_branch';
    const branch = renamedBranch(
      call.attribute(name, 'graph') ?? call.fail(`needs the graph '${name}'`),
      node.name || (node.outputs[0] ?? 'If'),
    );
    if (branch.inputs.length > 0 || branch.outputs.length !== node.outputs.length)
      call.fail(`has a branch with ${branch.inputs.length} inputs and ${branch.outputs.length} outputs`);
    for (const record of branch.initializers) this.#define(this.#initializer(record));
    for (const one of branch.nodes) {
      this.#node(one);
      this.#settle(one);
    }
    for (const [n, output] of node.outputs.entries()) {
      const value = this.#values.get(branch.outputs[n]?.name ?? '');
      if (!value) call.fail(`has a branch in which no node gives the output ${n}`);
      else if (output !== '') this.#define({ ...value, name: output });
    }
  }

  #value(
    name: string,
    { type, shape, fold, emit, isStatic: always = false }: NodeResult,
    call: NodeCall,
    from: Pick<Value, 'isWeight' | 'isStatic'>,
  ): Value {
    const host = fold ? once(fold) : null;
    const count = elementCount(shape);
    const isStatic = always || from.isStatic;
    const isWeight = from.isWeight && !always;
    const folds = host !== null && isStatic && !isWeight && count <= mostFolded;
    const tensor = once(() => {
      if (host && (folds || !emit)) return this.#constant(host(), type, name);
      const before = this.#draft.at;
      this.#draft.at = call;
      const made = emit?.() ?? call.refuse('gives shapes only');
      this.#draft.at = before;
      return made;
    });
    return { name, type, shape, host, tensor, isWeight, isStatic };
  }
}

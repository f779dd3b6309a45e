import { elementCount, type Tensor, TilewiseError } from '@tilewise/core';
import { InvalidGraphError, UnsupportedOperationError } from '../../../errors.ts';
import { Graph } from '../../../graph.ts';
import type { LogicalTensor } from '../../../ir/tensor/logical-tensor.ts';
import { brokenScalarRule } from '../../../ir/tensor/scalar.ts';
import { chosenBranch, inOrder, nodesFor } from './branches.ts';
import { Draft } from './draft.ts';
import { type ElementType, elementTypeName, elementTypeOf } from './file/element-type.ts';
import {
  functionName,
  type GraphRecord,
  type ModelRecord,
  type NodeRecord,
  type ValueRecord,
} from './file/read-model.ts';
import { engineTensor, numbersOf, type TensorRecord, tensorOfNumbers } from './file/tensor-record.ts';
import { checkAdded, functionBody } from './functions.ts';
import { checkShape, declaration, type GivenInputs } from './given-inputs.ts';
import { NodeCall, type NodeResult, named } from './node-call.ts';
import { once } from './once.ts';
import { type OnnxOperators, onnxOperatorOf } from './operators/table.ts';
import { type HostTensor, isUniform, type Value } from './value.ts';

/** A graph that was built from a model, for inputs of given shapes. */
export interface OnnxGraph {
  /** The finalized graph. */
  readonly graph: Graph;
  /** The graph's inputs by the model's names, without inputs whose numbers became part of the graph. */
  readonly inputs: Readonly<Record<string, LogicalTensor>>;
  /** The graph's outputs by the model's names. */
  readonly outputs: Readonly<Record<string, LogicalTensor>>;
  /** The weights by the model's names: each is an input of the graph and the value to bind to it. */
  readonly weights: Readonly<
    Record<
      string,
      {
        /** The input of the graph that stands for the weight. */
        readonly tensor: LogicalTensor;
        /** The value in the file. */
        readonly value: Tensor;
      }
    >
  >;
  /**
   * The tensors to bind to the graph's inputs that are not inputs of the model (weights and larger
   * constants), by tensor id.
   */
  readonly bindings: Readonly<Record<number, Tensor>>;
  /** The names of the inputs whose numbers became part of the graph, because shapes depend on them. */
  readonly specialised: ReadonlySet<string>;
}

/** The maximum number of elements of a constant that is stored in the graph itself. */
const maxInlineElements = 64;
/** The maximum number of elements of a tensor without weights that is computed while a model is read. */
const maxFoldedElements = 2 ** 20;

/**
 * Builds a graph from a model. Every node becomes numbers or operations, and the graph keeps only the
 * operations that the outputs need.
 */
export class GraphFromModel {
  readonly #model: ModelRecord;
  readonly #operators: OnnxOperators;
  readonly #data: (tensor: TensorRecord) => Uint8Array;
  readonly #given: GivenInputs;
  readonly #draft = new Draft();
  readonly #values = new Map<string, Value>();
  readonly #inputs = new Map<string, LogicalTensor>();
  readonly #weights = new Map<string, { tensor: LogicalTensor; value: Tensor }>();
  readonly #constants = new Map<number, Tensor>();
  readonly #specialised = new Set<string>();
  #added = 0;
  #nesting = 0;

  /** @param data returns the bytes of a tensor, even if they are in another file. */
  constructor(
    model: ModelRecord,
    operators: OnnxOperators,
    data: (tensor: TensorRecord) => Uint8Array,
    given: GivenInputs,
  ) {
    this.#model = model;
    this.#operators = operators;
    this.#data = data;
    this.#given = given;
  }

  build(): OnnxGraph {
    const { initializers, inputs, outputs } = this.#model;
    const nodes = inOrder(this.#model.nodes);
    for (const record of initializers) this.#define(this.#initializer(record));
    // Files of early versions also list initializers as inputs.
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
      if (!value) throw new InvalidGraphError(`ONNX file: no node produces the output '${name}'`, name);
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
      throw new InvalidGraphError(`ONNX file: two nodes produce '${value.name}'`, value.name);
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
      throw new UnsupportedOperationError(`input '${name}'`, `is ${what}, which engines do not support`);
    }
    const own = <T>(all: Readonly<Record<string, T>>): T | undefined =>
      Object.hasOwn(all, name) ? all[name] : undefined;
    const given = own(this.#given.values);
    const shape = own(this.#given.shapes) ?? given?.shape ?? declared;
    if (!shape || shape.some(extent => typeof extent !== 'number'))
      throw new InvalidGraphError(
        `${declaration(name, declared)}: give its shape, as shapes: { '${name}': […] }`,
        name,
      );
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
   * Numbers as a tensor: a few numbers become an operation, more numbers become an input of the graph that is
   * bound to them.
   */
  #constant({ shape, values }: HostTensor, type: ElementType, name = ''): LogicalTensor {
    const { dtype } = type;
    const isPlain = ['f32', 'f16', 'bf16', 'i32', 'bool'].includes(dtype);
    const few = Array.from({ length: Math.min(values.length, maxInlineElements + 1) }, (_, n) => values[n]);
    const inline = isUniform(values) ? few.slice(0, 1) : few;
    const fitsInline =
      inline.length > 0 &&
      inline.length <= maxInlineElements &&
      inline.every(x => brokenScalarRule(dtype, x) === null);
    if (isPlain && fitsInline && !inline.some(Number.isNaN)) return this.#draft.inline(inline, shape, dtype);
    const made = this.#draft.tensor(dtype, shape, name, 'constant');
    this.#constants.set(made.id, tensorOfNumbers(name || this.#draft.at.label, dtype, shape, values));
    return made;
  }

  /**
   * Computes the outputs of a node in the order of the file, as far as possible now. Otherwise the model's
   * outputs would request node after node in nested calls. An error here is ignored: it occurs again if the
   * node is really needed.
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
    const operator = onnxOperatorOf(this.#operators, domain, op);
    const inputs = node.inputs.map(name => {
      if (name === '') return null;
      const value = this.#values.get(name);
      if (!value)
        throw new InvalidGraphError(
          `ONNX file: ${op} '${node.name}' reads '${name}', which no earlier node produces`,
          name,
        );
      return value;
    });
    const version = this.#model.opsets.get(domain);
    const constant: NodeCall['constant'] = (host, type) => this.#constant(host, type);
    const call = new NodeCall(node, version ?? 1, { draft: this.#draft, constant }, inputs);
    if (version === undefined)
      call.fail(`is of the operator set '${domain}', which the model does not import`);
    this.#draft.at = call;
    const own = operator ? undefined : this.#model.functions.get(functionName(node));
    const body = domain === '' && op === 'If' ? chosenBranch(call) : own && functionBody(node, own);
    if (body) {
      this.#expand(call, body);
      return;
    }
    const unsupported = (): never =>
      call.refuse(domain ? `is in the operator set '${domain}' and is not supported` : 'is not supported');
    const results = [named(call, () => operator?.(call) ?? unsupported())].flat();
    const from = {
      isWeight: inputs.some(value => value?.isWeight),
      isStatic: inputs.every(value => value?.isStatic ?? true),
    };
    for (const [n, name] of outputs.entries()) {
      if (name !== '')
        this.#define(this.#value(name, results[n] ?? call.fail(`has no output ${n}`), call, from));
    }
  }

  /** Adds the nodes of a branch or a function, whose results become those of the node. */
  #expand(call: NodeCall, body: GraphRecord): void {
    this.#added += body.nodes.length;
    this.#nesting += 1;
    checkAdded(call, this.#added, this.#nesting);
    for (const record of body.initializers) this.#define(this.#initializer(record));
    for (const one of inOrder(body.nodes)) {
      this.#node(one);
      this.#settle(one);
    }
    this.#nesting -= 1;
    for (const [n, output] of call.node.outputs.entries()) {
      const value = this.#values.get(body.outputs[n]?.name ?? '');
      if (!value) call.fail(`has a branch or a function in which no node produces output ${n}`);
      else if (output !== '') this.#define({ ...value, name: output });
    }
  }

  #value(
    name: string,
    { type, shape, fold, emit, isStatic: always = false }: NodeResult,
    call: NodeCall,
    from: Pick<Value, 'isWeight' | 'isStatic'>,
  ): Value {
    const host = fold ? once(() => named(call, fold)) : null;
    const count = elementCount(shape);
    const isStatic = always || from.isStatic;
    const isWeight = from.isWeight && !always;
    const folds = host !== null && isStatic && !isWeight && count <= maxFoldedElements;
    const tensor = once(() => {
      if (host && (folds || !emit)) return this.#constant(host(), type, name);
      const before = this.#draft.at;
      this.#draft.at = call;
      const made = named(call, () => emit?.() ?? call.refuse('can only be computed while the model is read'));
      this.#draft.at = before;
      return made;
    });
    return { name, type, shape, host, tensor, isWeight, isStatic };
  }
}

import { InvalidShapeError } from '@tilewise/core';
import { InvalidGraphError } from '../errors.ts';
import { inferShapes } from './infer.ts';
import { describeNode, type GraphNode } from './node.ts';
import { postOrder } from './post-order.ts';
import { describeTensor, type LogicalShape, type LogicalTensor } from './tensor/logical-tensor.ts';

/** An operation that reads a tensor, and the index of the input. */
export interface Use {
  /** The operation that reads the tensor. */
  readonly node: GraphNode;
  /** The index of the tensor among the inputs of the operation. */
  readonly input: number;
}

/** How the operations of a graph are connected. */
export interface Topology {
  /** Topological order; among independent operations, the order in which they were added. */
  readonly order: readonly GraphNode[];
  /** The tensors by id. */
  readonly tensors: ReadonlyMap<number, LogicalTensor>;
  /**
   * All tensors that the graph has described, by id: including tensors without an operation and, in a
   * backward graph, the forward tensors.
   */
  readonly described: ReadonlyMap<number, LogicalTensor>;
  /** The operation that writes a tensor, by the id of the tensor. */
  readonly producers: ReadonlyMap<number, GraphNode>;
  /** The uses of a tensor; empty if no operation reads it. */
  uses(tensor: number): readonly Use[];
  /** The tensors that an operation reads and none produces. */
  readonly inputs: readonly LogicalTensor[];
  /** The tensors that an operation produces, and that an `End` reads or nothing reads. */
  readonly outputs: readonly LogicalTensor[];
  /**
   * The shape of a tensor, inferred over the whole graph; the declared shape if shapes in the graph
   * contradict each other.
   */
  shapeOf(tensor: number): LogicalShape;
  /**
   * The shapes of all tensors, by id.
   * @throws InvalidShapeError if shapes in the graph contradict each other.
   */
  shapes(): ReadonlyMap<number, LogicalShape>;
}

/**
 * Connects operations by the ids of their tensors.
 * @throws InvalidGraphError for conflicting descriptions of a tensor, two producers of a tensor, or a cycle;
 * it names the operations and the tensor.
 */
export function connect(
  nodes: readonly GraphNode[],
  described: ReadonlyMap<number, LogicalTensor>,
): Topology {
  const tensors = new Map<number, LogicalTensor>();
  const firstNode = new Map<number, GraphNode>();
  const producers = new Map<number, GraphNode>();
  const uses = new Map<number, Use[]>();
  for (const node of nodes) {
    for (const tensor of [...node.inputs, ...node.outputs]) {
      const first = tensors.get(tensor.id);
      const difference = first && differenceOf(first, tensor);
      if (difference) {
        const [one, other] = [firstNode.get(tensor.id) ?? node, node].map(describeNode);
        const differs = `${describeTensor(first)} for ${one} but ${describeTensor(tensor)} for ${other}`;
        throw tensorError(tensor.id, `is ${differs}: ${difference}`);
      }
      if (!first) {
        tensors.set(tensor.id, tensor);
        firstNode.set(tensor.id, node);
      }
    }
    node.inputs.forEach(({ id }, input) => {
      const list = uses.get(id) ?? [];
      uses.set(id, list);
      list.push({ node, input });
    });
    for (const { id } of node.outputs) {
      const other = producers.get(id);
      if (other)
        throw tensorError(id, `is produced twice: by ${describeNode(other)} and by ${describeNode(node)}`);
      producers.set(id, node);
    }
  }
  const needsOf = (node: GraphNode): GraphNode[] => producersOf(node, producers);
  const order = postOrder(nodes, needsOf, cycle => {
    throw cycleError(cycle);
  });
  let known: ReadonlyMap<number, LogicalShape> | undefined;
  const shapes = (): ReadonlyMap<number, LogicalShape> => inferShapes(order, new Map());
  const usesOf = (tensor: number): readonly Use[] => uses.get(tensor) ?? [];
  return {
    order,
    tensors,
    described,
    producers,
    uses: usesOf,
    inputs: [...tensors.values()].filter(({ id }) => !producers.has(id)),
    outputs: [...tensors.values()].filter(
      ({ id }) =>
        producers.has(id) && (usesOf(id).length === 0 || usesOf(id).some(use => use.node.kind === 'End')),
    ),
    shapes,
    shapeOf(tensor) {
      try {
        known ??= shapes();
      } catch (error) {
        // `compile` reports the contradiction: a graph may be partitioned before its shapes are final.
        if (!(error instanceof InvalidShapeError)) throw error;
        known = new Map();
      }
      return known.get(tensor) ?? tensors.get(tensor)?.shape ?? null;
    },
  };
}

/** The operations whose results an operation reads; one for each input that has a producer. */
export function producersOf({ inputs }: GraphNode, producers: Topology['producers']): GraphNode[] {
  return inputs.flatMap(({ id }) => producers.get(id) ?? []);
}

/** The first difference between two descriptions of a tensor, in words; undefined if there is none. */
function differenceOf(a: LogicalTensor, b: LogicalTensor): string | undefined {
  if (a === b) return undefined;
  const keys = ['dtype', 'shape', 'strides', 'layout', 'property'] as const;
  const differs = keys.find(key => JSON.stringify(a[key]) !== JSON.stringify(b[key]));
  return differs && `${differs} ${JSON.stringify(a[differs])} and ${JSON.stringify(b[differs])}`;
}

/** An error about a tensor of a graph. */
function tensorError(id: number, rule: string): InvalidGraphError {
  return new InvalidGraphError(`tensor ${id} ${rule}`, `tensor ${id}`);
}

/** @param cycle operations: each reads a result of the next one, and the last one a result of the first. */
function cycleError(cycle: readonly GraphNode[]): InvalidGraphError {
  const read = new Set(cycle[cycle.length - 1].inputs.map(({ id }) => id));
  const tensor = cycle[0].outputs.find(({ id }) => read.has(id));
  const path = cycle.map(describeNode).reverse().join(' → ');
  return new InvalidGraphError(
    `the graph has a cycle through tensor ${tensor?.id}: ${path}`,
    `tensor ${tensor?.id}`,
  );
}

/**
 * Checks that the outputs of a graph are the expected ones.
 * @throws InvalidGraphError naming the tensor, and the operation that produces or reads it.
 */
export function checkOutputs({ producers, uses, outputs }: Topology, wanted: readonly LogicalTensor[]): void {
  const given = new Set(outputs.map(t => t.id));
  for (const { id } of wanted) {
    const producer = producers.get(id);
    if (!producer) throw tensorError(id, 'should be an output, but no operation produces it');
    if (given.has(id)) continue;
    const [reader] = uses(id);
    const rule = `should be an output, but ${describeNode(reader.node)} reads it: mark it with an End`;
    throw tensorError(id, `of ${describeNode(producer)} ${rule}`);
  }
  const names = new Set(wanted.map(t => t.id));
  const dangling = outputs.find(t => !names.has(t.id));
  const producer = dangling && producers.get(dangling.id);
  if (!producer) return;
  const rule = 'is neither read nor an output: add it to the outputs';
  throw tensorError(dangling.id, `of ${describeNode(producer)} ${rule}`);
}

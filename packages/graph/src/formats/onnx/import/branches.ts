import { postOrder } from '../../../ir/post-order.ts';
import type { AttributeRecord, GraphRecord, NodeRecord } from './file/read-model.ts';
import type { TensorRecord } from './file/tensor-record.ts';
import type { NodeCall } from './node-call.ts';

/** The names that a graph defines. */
const definedIn = ({ initializers, nodes }: GraphRecord): ReadonlySet<string> =>
  new Set([...initializers.map(({ name }) => name), ...nodes.flatMap(({ outputs }) => outputs)]);

/** A graph with its names mapped, except those of its inputs and those that its own branches define. */
export function mapped(graph: GraphRecord, map: (name: string) => string): GraphRecord {
  return {
    ...graph,
    nodes: graph.nodes.map(node => ({
      ...node,
      inputs: node.inputs.map(map),
      outputs: node.outputs.map(map),
      attributes: new Map([...node.attributes].map(([name, own]) => [name, mappedReads(own, map)])),
    })),
    initializers: graph.initializers.map(tensor => ({ ...tensor, name: map(tensor.name) })),
    outputs: graph.outputs.map(value => ({ ...value, name: map(value.name) })),
  };
}

/** An attribute in which the names that a branch reads from outside are mapped. */
function mappedReads(attribute: AttributeRecord, map: (name: string) => string): AttributeRecord {
  if (attribute.kind !== 'graph') return attribute;
  const own = definedIn(attribute.value);
  return { kind: 'graph', value: mapped(attribute.value, name => (own.has(name) ? name : map(name))) };
}

/**
 * Renames what a branch defines: each name gets its node's name as a prefix, so that no two branches define
 * the same name. Names that the branch reads from outside do not change, nor do the names that its nested
 * branches define; those are renamed when such a branch is taken.
 */
function renamedBranch(branch: GraphRecord, prefix: string): GraphRecord {
  const own = definedIn(branch);
  return mapped(branch, name => (name !== '' && own.has(name) ? `${prefix}/${name}` : name));
}

/** The branch of `If` that the numbers of its condition choose, with names of its own. */
export function chosenBranch(call: NodeCall): GraphRecord {
  const condition = call.input(0);
  if (!condition.host)
    call.refuse(`chooses a branch by '${condition.name}', which is known only when the graph runs`);
  const name = call.numbers(0)[0] ? 'then_branch' : 'else_branch';
  const branch = call.attribute(name, 'graph') ?? call.fail(`needs the graph '${name}'`);
  const { outputs } = call.node;
  if (branch.inputs.length > 0 || branch.outputs.length !== outputs.length)
    call.fail(`has a branch with ${branch.inputs.length} inputs and ${branch.outputs.length} outputs`);
  return renamedBranch(branch, call.node.name || (outputs[0] ?? 'If'));
}

/** The graphs in a node's attributes. */
const branchesOf = ({ attributes }: NodeRecord): GraphRecord[] =>
  [...attributes.values()].flatMap(attribute => (attribute.kind === 'graph' ? [attribute.value] : []));

/** The names of the operators of ONNX that nodes and their branches use. */
export const operatorsOf = (nodes: readonly NodeRecord[]): string[] =>
  nodes.flatMap(node => [
    ...(node.domain === '' ? [node.op] : []),
    ...branchesOf(node).flatMap(branch => operatorsOf(branch.nodes)),
  ]);

/** All tensors in a graph and its branches. */
export function tensorsOf({ initializers, nodes }: GraphRecord): TensorRecord[] {
  const inNodes = nodes
    .flatMap(({ attributes }) => [...attributes.values()])
    .flatMap(attribute => {
      if (attribute.kind === 'tensor') return [attribute.value];
      return attribute.kind === 'graph' ? tensorsOf(attribute.value) : [];
    });
  return [...initializers, ...inNodes];
}

/** The names that a node and its branches read. */
function readsOf(node: NodeRecord): string[] {
  return [
    ...node.inputs,
    ...branchesOf(node).flatMap(({ nodes, outputs }) => [
      ...nodes.flatMap(readsOf),
      ...outputs.map(({ name }) => name),
    ]),
  ];
}

/**
 * The nodes in an order in which each follows those whose results it reads. ONNX requires such an order, but
 * tools add nodes, such as casts of inputs, at the end of a file, and onnxruntime reads these files.
 */
export function inOrder(nodes: readonly NodeRecord[]): readonly NodeRecord[] {
  const producers = new Map(nodes.flatMap(node => node.outputs.map(name => [name, node])));
  // The name of an optional output that is left out.
  producers.delete('');
  return postOrder(nodes, node => readsOf(node).flatMap(name => producers.get(name) ?? []));
}

/** The nodes that some outputs depend on. */
export function nodesFor(nodes: readonly NodeRecord[], outputs: readonly string[]): ReadonlySet<NodeRecord> {
  const names = new Set(outputs);
  const needed = new Set<NodeRecord>();
  for (let n = nodes.length - 1; n >= 0; n--) {
    const node = nodes[n];
    if (!node.outputs.some(name => names.has(name))) continue;
    needed.add(node);
    for (const name of readsOf(node)) names.add(name);
  }
  return needed;
}

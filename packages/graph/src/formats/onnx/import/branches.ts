import type { AttributeRecord, GraphRecord, ModelRecord, NodeRecord } from './file/read-model.ts';
import type { TensorRecord } from './file/tensor-record.ts';

/**
 * A branch with other names: what it defines begins with the name of its node, so that no two branches define
 * one name. What it reads from outside keeps its name, as do names of what it defines within branches of its
 * own, which are renamed when they are taken.
 */
export function renamedBranch(branch: GraphRecord, prefix: string): GraphRecord {
  const { nodes, initializers, inputs, outputs } = branch;
  const own = new Set([
    ...initializers.map(({ name }) => name),
    ...nodes.flatMap(({ outputs: given }) => given.filter(name => name !== '')),
  ]);
  const map = (name: string): string => (own.has(name) ? `${prefix}/${name}` : name);
  return {
    nodes: nodes.map(node => mappedNode(node, map)),
    initializers: initializers.map(tensor => ({ ...tensor, name: map(tensor.name) })),
    inputs,
    outputs: outputs.map(value => ({ ...value, name: map(value.name) })),
  };
}

function mappedNode(node: NodeRecord, map: (name: string) => string): NodeRecord {
  return {
    ...node,
    inputs: node.inputs.map(map),
    outputs: node.outputs.map(map),
    attributes: new Map([...node.attributes].map(([name, attribute]) => [name, mappedReads(attribute, map)])),
  };
}

/** The names that a branch reads from around it. */
function mappedReads(attribute: AttributeRecord, map: (name: string) => string): AttributeRecord {
  if (attribute.kind !== 'graph') return attribute;
  const { nodes, initializers, outputs } = attribute.value;
  const own = new Set([
    ...initializers.map(({ name }) => name),
    ...nodes.flatMap(({ outputs: given }) => given),
  ]);
  const outer = (name: string): string => (own.has(name) ? name : map(name));
  const value = {
    ...attribute.value,
    nodes: nodes.map(node => mappedNode(node, outer)),
    outputs: outputs.map(output => ({ ...output, name: outer(output.name) })),
  };
  return { kind: 'graph', value };
}

/** The graphs of a node's attributes. */
const branchesOf = ({ attributes }: NodeRecord): GraphRecord[] =>
  [...attributes.values()].flatMap(attribute => (attribute.kind === 'graph' ? [attribute.value] : []));

/** All tensors that a graph and its branches hold. */
export function tensorsOf({
  initializers,
  nodes,
}: Pick<ModelRecord, 'initializers' | 'nodes'>): TensorRecord[] {
  const inNodes = nodes.flatMap(node => [
    ...[...node.attributes.values()].flatMap(attribute =>
      attribute.kind === 'tensor' ? [attribute.value] : [],
    ),
    ...branchesOf(node).flatMap(tensorsOf),
  ]);
  return [...initializers, ...inNodes];
}

/** The names that a node reads, those of its branches too. */
function readsOf(node: NodeRecord): string[] {
  return [
    ...node.inputs,
    ...branchesOf(node).flatMap(({ nodes, outputs }) => [
      ...nodes.flatMap(readsOf),
      ...outputs.map(({ name }) => name),
    ]),
  ];
}

/** The nodes that some outputs depend on. */
export function nodesFor(nodes: readonly NodeRecord[], outputs: readonly string[]): ReadonlySet<NodeRecord> {
  const names = new Set(outputs);
  const needed = new Set<NodeRecord>();
  for (let n = nodes.length - 1; n >= 0; n--) {
    const node = nodes[n] as NodeRecord;
    if (!node.outputs.some(name => names.has(name))) continue;
    needed.add(node);
    for (const name of readsOf(node)) names.add(name);
  }
  return needed;
}

import type { GraphNode } from '../../ir/node.ts';
import type { Topology } from '../../ir/topology.ts';

/** Whether an operation belongs to no match yet. */
export type IsFree = (node: GraphNode) => boolean;

/** Operations that only change the layout. */
export const layoutKinds: ReadonlySet<string> = new Set(['StaticReshape', 'StaticTranspose', 'Reorder']);

/** Operations that change the layout or storage of numbers, and constants. */
const storage = new Set([...layoutKinds, 'Constant', 'TypeCast', 'Dequantize', 'DynamicDequantize']);

/** Operations that change how numbers are stored. */
const storageAfter = new Set([...layoutKinds, 'TypeCast', 'Quantize']);

/**
 * The operations that decode `tensors` from their stored form (layout, casts, dequantization), in topological
 * order. An operation is fused if nothing outside reads its result, so that the partition reads the stored
 * tensors.
 */
export function fuseBefore(
  tensors: readonly number[],
  nodes: ReadonlySet<GraphNode>,
  topology: Topology,
  isFree: IsFree = () => true,
): GraphNode[] {
  const taken: GraphNode[] = [];
  const all = new Set(nodes);
  const open = [...tensors].reverse();
  for (let tensor = open.pop(); tensor !== undefined; tensor = open.pop()) {
    const node = topology.producers.get(tensor);
    if (!node || all.has(node) || !storage.has(node.kind) || !isFree(node)) continue;
    const isPrivate = node.outputs.every(({ id }) => topology.uses(id).every(use => all.has(use.node)));
    if (!isPrivate) continue;
    all.add(node);
    taken.push(node);
    open.push(...node.inputs.map(t => t.id));
  }
  // Readers were found before producers.
  return taken.reverse();
}

/** The operations that change the storage of `tensor`, and the tensor that they end in. */
export function fuseAfter(
  tensor: number,
  topology: Topology,
  kinds: ReadonlySet<string> = storageAfter,
): { readonly nodes: GraphNode[]; readonly result: number } {
  const nodes: GraphNode[] = [];
  let result = tensor;
  for (;;) {
    const uses = topology.uses(result);
    if (uses.length !== 1 || !kinds.has(uses[0].node.kind)) return { nodes, result };
    const { node } = uses[0];
    nodes.push(node);
    result = node.outputs[0].id;
  }
}

import type { GraphNode } from '../ir/node.ts';
import type { Topology } from '../ir/topology.ts';
import { leaves } from './fuse/boundary.ts';
import { fuseBefore, type IsFree } from './fuse/fuse.ts';
import type { Match } from './match.ts';

/** Operations that are not elementwise but may follow an operation and run with it. */
const following = new Set(['TypeCast', 'Dropout', 'BiasAdd', 'Quantize', 'Dequantize', 'Reorder']);

/**
 * The number of operations that may join before they have one result again. Without a limit, each start in a
 * long chain whose results are also read elsewhere would visit the rest of the chain.
 */
const MAX_PENDING = 256;

/** Operations that compute nothing, and cannot be the first of a match. */
const noStart = new Set(['End', 'Wildcard']);

/**
 * An operation and the elementwise operations after it, with one result:
 *
 *     [Dequantize | TypeCast | …]* · any operation · (elementwise | TypeCast | Dropout | BiasAdd | Quantize)+
 */
export function postOperations(anchor: GraphNode, topology: Topology, isFree: IsFree): Match | null {
  if (noStart.has(anchor.kind) || !anchor.operation.lower) return null;
  const grown = new Set<GraphNode>();
  // Tensors that leave the operations.
  const open = new Set<number>();
  const grow = (node: GraphNode): void => {
    grown.add(node);
    for (const { id } of node.inputs) if (open.has(id) && !leaves(id, grown, topology)) open.delete(id);
    for (const { id } of node.outputs) if (leaves(id, grown, topology)) open.add(id);
  };
  grow(anchor);
  let best = 1;
  // The loop also visits operations that join during the loop.
  for (const node of grown) {
    if (grown.size - best > MAX_PENDING) break;
    for (const { node: next } of node.outputs.flatMap(({ id }) => topology.uses(id))) {
      if (grown.has(next) || !mayFollow(next) || !isFree(next)) continue;
      grow(next);
      if (next.outputs.filter(({ id }) => open.has(id)).length === open.size) best = grown.size;
    }
  }
  const members = new Set([...grown].slice(0, best));
  const operands = [...members].flatMap(node => node.inputs.map(t => t.id));
  const before = fuseBefore(operands, members, topology, isFree);
  if (before.length + members.size < 2) return null;
  const nodes = new Set([...before, ...members]);
  return { kind: 'fused-operations', nodes, form: null };
}

function mayFollow({ kind, operation }: GraphNode): boolean {
  return operation.element !== undefined || following.has(kind);
}

/**
 * `postOperations` for products and reductions only. This pattern is tried first, so that they get the
 * operations around them.
 */
export function computedPostOperations(anchor: GraphNode, topology: Topology, isFree: IsFree): Match | null {
  return mayFollow(anchor) || storage.has(anchor.kind) ? null : postOperations(anchor, topology, isFree);
}

const storage = new Set(['GenIndex', 'StaticReshape', 'StaticTranspose', 'DynamicDequantize']);

import type { GraphNode } from '../graph/node.ts';
import type { Topology } from '../graph/topology.ts';
import type { Match } from '../partition/match.ts';
import { absorbBefore } from './absorb.ts';
import { isClosed } from './closed.ts';
import type { IsFree } from './pattern.ts';

/** What may follow an operation and run with it, besides what is elementwise. */
const following = new Set(['TypeCast', 'Dropout', 'BiasAdd', 'Quantize', 'Dequantize', 'Reorder']);

/** What nothing starts with: it computes nothing. */
const noStart = new Set(['End', 'Wildcard']);

/**
 * An operation and the elementwise ones behind it, as long as they have one result:
 *
 *     [Dequantize | TypeCast | …]* · any operation · (elementwise | TypeCast | Dropout | BiasAdd | Quantize)+
 */
export function postOperations(anchor: GraphNode, topology: Topology, isFree: IsFree): Match | null {
  if (noStart.has(anchor.kind) || !anchor.operation.lower) return null;
  const grown = new Set([anchor]);
  let best: ReadonlySet<GraphNode> = new Set(grown);
  const isNext = (node: GraphNode): boolean => !grown.has(node) && mayFollow(node) && isFree(node);
  for (
    let next = nextOperation(grown, topology, isNext);
    next;
    next = nextOperation(grown, topology, isNext)
  ) {
    grown.add(next);
    if (isClosed(grown, new Set(next.outputs.map(t => t.id)), topology)) best = new Set(grown);
  }
  const members = topology.order.filter(node => best.has(node));
  const operands = members.flatMap(node => node.inputs.map(t => t.id));
  const before = absorbBefore(operands, best, topology, isFree);
  if (before.length + best.size < 2) return null;
  const nodes = new Set([...before, ...best]);
  return { kind: 'fused-operations', nodes, lower: null };
}

/** An operation that only waits for what is there already or comes from outside. */
function nextOperation(
  grown: ReadonlySet<GraphNode>,
  topology: Topology,
  isNext: IsFree,
): GraphNode | undefined {
  for (const node of grown) {
    for (const { id } of node.outputs) {
      const next = topology.uses(id).find(use => isNext(use.node))?.node;
      if (next) return next;
    }
  }
  return undefined;
}

function mayFollow({ kind, operation }: GraphNode): boolean {
  return operation.element !== undefined || following.has(kind);
}

/** As `postOperations`, for what products, reductions and the like start: so that these get what is around them. */
export function computedPostOperations(anchor: GraphNode, topology: Topology, isFree: IsFree): Match | null {
  return mayFollow(anchor) || storage.has(anchor.kind) ? null : postOperations(anchor, topology, isFree);
}

const storage = new Set(['GenIndex', 'StaticReshape', 'StaticTranspose', 'DynamicDequantize']);

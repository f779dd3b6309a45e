import type { GraphNode } from '../graph/node.ts';
import type { Topology } from '../graph/topology.ts';

/** An elementwise operation on the scores: which of its inputs is the score. */
export interface Link {
  readonly node: GraphNode;
  readonly score: number;
}

/** What happens between the product of queries and keys and the softmax. */
export interface ScoreChain {
  readonly matmul: GraphNode;
  /** From the product on. */
  readonly links: readonly Link[];
  /** The product, the links, and the operations on indices that they read. */
  readonly nodes: ReadonlySet<GraphNode>;
}

/**
 * Goes back from scores to the MatMul that they come from, through elementwise operations alone:
 *
 *     MatMul · [StaticReshape] [StaticTranspose] · (Multiply | Divide | Add | Select | Tanh | … )*
 *
 * in any number and order. Operands made of `GenIndex` belong to the chain.
 */
export function scoreChain(scores: number, topology: Topology): ScoreChain | null {
  const links: Link[] = [];
  const matmul = goBack(scores, topology, links);
  if (!matmul) return null;
  const nodes = new Set([matmul, ...links.map(link => link.node)]);
  for (const { node, score } of links) {
    node.inputs.forEach((t, n) => {
      if (n !== score) for (const member of indexOperations(t.id, topology)) nodes.add(member);
    });
  }
  return { matmul, links, nodes };
}

function goBack(scores: number, topology: Topology, links: Link[]): GraphNode | null {
  const node = topology.producers.get(scores);
  if (!node) return null;
  if (node.kind === 'MatMul') return node.inputs.length === 2 ? node : null;
  if (layouts.has(node.kind)) {
    const matmul = productBefore(node.inputs[0].id, topology, links);
    if (matmul) links.push({ node, score: 0 });
    return matmul;
  }
  if (!isLink(node)) return null;
  for (const [n, t] of node.inputs.entries()) {
    if (node.kind === 'Select' && n === 0) continue;
    const matmul = goBack(t.id, topology, links);
    if (matmul) {
      links.push({ node, score: n });
      return matmul;
    }
  }
  return null;
}

/** What JAX has between the product of queries with the keys of one head for all and the scores of each head. */
const layouts = new Set(['StaticReshape', 'StaticTranspose']);

/** The product that scores come from by their layout alone. */
function productBefore(tensor: number, topology: Topology, links: Link[]): GraphNode | null {
  const kind = topology.producers.get(tensor)?.kind;
  return kind === 'MatMul' || (kind !== undefined && layouts.has(kind))
    ? goBack(tensor, topology, links)
    : null;
}

/** Whether an operation may stand between scores and softmax. */
function isLink({ kind, operation }: GraphNode): boolean {
  return operation.element !== undefined || kind === 'TypeCast';
}

/** The operations that a tensor is made of, when it is made of indices; none when it is not. */
export function indexOperations(tensor: number, topology: Topology): GraphNode[] {
  const node = topology.producers.get(tensor);
  if (!node) return [];
  if (node.kind === 'GenIndex') return [node];
  if (node.operation.element === undefined) return [];
  const below = node.inputs.flatMap(t => indexOperations(t.id, topology));
  return below.length === 0 ? [] : [...below, node];
}

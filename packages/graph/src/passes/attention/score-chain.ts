import type { GraphNode } from '../../ir/node.ts';
import { postOrder } from '../../ir/post-order.ts';
import { floats } from '../../ir/schema/ports.ts';
import { producersOf, type Topology } from '../../ir/topology.ts';

/** An elementwise operation on the scores, and the index of the input that is the score. */
export interface Link {
  readonly node: GraphNode;
  readonly score: number;
}

/** The operations from the product of queries and keys to the softmax. */
export interface ScoreChain {
  readonly matmul: GraphNode;
  /** The links in order, starting at the product. */
  readonly links: readonly Link[];
  /** The product, the links, and the operations on indices that they read. */
  readonly nodes: ReadonlySet<GraphNode>;
}

/**
 * Finds the MatMul that scores come from, through elementwise operations:
 *
 *     MatMul · [StaticReshape] [StaticTranspose] · (Multiply | Divide | Add | Select | Tanh | … )*
 *
 * in any number and order. Operands that are computed from `GenIndex` belong to the chain.
 */
export function scoreChain(scores: number, topology: Topology): ScoreChain | null {
  const path = pathFromProduct(scores, topology);
  if (!path) return null;
  const { matmul, links } = path;
  const nodes = new Set([matmul, ...links.map(link => link.node)]);
  for (const { node, score } of links) {
    node.inputs.forEach((t, n) => {
      if (n !== score) for (const member of indexOperations(t.id, topology)) nodes.add(member);
    });
  }
  return { matmul, links, nodes };
}

function pathFromProduct(scores: number, topology: Topology): Pick<ScoreChain, 'matmul' | 'links'> | null {
  // An explicit stack that visits each tensor once: chains may be long, and may read a tensor twice at every
  // step.
  const path: { readonly node: GraphNode; readonly inputs: readonly number[]; next: number }[] = [];
  const tried = new Set<number>();
  let at = scores;
  for (;;) {
    const node = tried.has(at) ? undefined : topology.producers.get(at);
    tried.add(at);
    if (node?.kind === 'MatMul' && node.inputs.length === 2) {
      const links = path.map(({ node: link, inputs, next }) => ({ node: link, score: inputs[next - 1] }));
      return { matmul: node, links: links.reverse() };
    }
    if (node) path.push({ node, inputs: scoreInputs(node, topology), next: 0 });
    let top = path.at(-1);
    for (; top && top.next === top.inputs.length; top = path.at(-1)) path.pop();
    if (!top) return null;
    at = top.node.inputs[top.inputs[top.next++]].id;
  }
}

/** The indices of the inputs of an operation that may be the score. */
function scoreInputs(node: GraphNode, { producers }: Topology): number[] {
  if (layouts.has(node.kind)) {
    // Layout operations may only directly follow the product.
    const kind = producers.get(node.inputs[0].id)?.kind;
    return kind === 'MatMul' || (kind !== undefined && layouts.has(kind)) ? [0] : [];
  }
  if (!isLink(node)) return [];
  const all = node.inputs.map((_, n) => n);
  return node.kind === 'Select' ? all.slice(1) : all;
}

/**
 * JAX writes these between the product of grouped heads and the scores of each head.
 */
const layouts = new Set(['StaticReshape', 'StaticTranspose']);

/**
 * Whether an operation may be between the product and the softmax. A call computes all scores in f32, so it
 * cannot round them to integers or booleans on the way.
 */
function isLink(node: GraphNode): boolean {
  return isElementwise(node) && floats.includes(node.outputs[0].dtype);
}

function isElementwise({ kind, operation }: GraphNode): boolean {
  return operation.element !== undefined || kind === 'TypeCast';
}

/** The operations that compute a tensor of indices, in topological order; empty for any other tensor. */
export function indexOperations(tensor: number, { producers }: Topology): GraphNode[] {
  const found = new Set<GraphNode>();
  const root = producers.get(tensor);
  const computed = postOrder(root ? [root] : [], node =>
    isElementwise(node) ? producersOf(node, producers) : [],
  );
  for (const node of computed) {
    const isComputed = producersOf(node, producers).some(other => found.has(other));
    if (node.kind === 'GenIndex' || (isComputed && isElementwise(node))) found.add(node);
  }
  return [...found];
}

import type { GraphNode } from '../graph/node.ts';
import type { Topology } from '../graph/topology.ts';
import { flagOf, numbersOf } from '../schema/attribute.ts';
import { type DropoutMatch, dropoutOf } from './dropout-of.ts';
import { type ScoreChain, scoreChain } from './score-chain.ts';
import { scoreGradient } from './score-gradient.ts';

/** A product that gives a gradient, and what its result goes through. */
export interface GradientMatMul {
  readonly matmul: GraphNode;
  /** Sums the heads that share one of k or v. */
  readonly reduce: GraphNode | null;
  /** Whether the result is the gradient with its last two dimensions swapped. */
  readonly transposed: boolean;
  readonly result: number;
}

/** The operations of a backward pass, by their roles. */
export interface BackwardParts {
  readonly chain: ScoreChain;
  readonly nodes: ReadonlySet<GraphNode>;
  readonly stats: number;
  readonly dO: number;
  readonly v: number;
  /** The product dP = dO·Vᵀ. */
  readonly dP: GraphNode;
  /** The result of forward; null where the gradient of softmax is computed from the probabilities. */
  readonly o: number | null;
  readonly dropout: DropoutMatch | null;
  /** Scalars of the two dropouts that are different tensors and must hold the same. */
  readonly equal: readonly (readonly [number, number])[];
  /** Whether the gradient goes through every Select of the chain as if there were none. */
  readonly ignoresMasks: boolean;
  /** The gradient of the masked scores, when an `End` makes it a result. */
  readonly dMask: number | null;
  readonly dv: GradientMatMul | null;
  readonly dq: GradientMatMul | null;
  readonly dk: GradientMatMul | null;
}

/**
 * The backward pass of attention around P = Exp(Subtract(S', stats)):
 *
 *     dV  = MatMul([TypeCast] [dropout] P, dO)ᵀ [ReduceSum]        dP = MatMul(dO, V)ᵀ [dropout]
 *     dS' = Multiply(P, Subtract(dP, ReduceSum(Multiply(O, dO))))  or SoftMaxBackward(dP, P)    [End]
 *     dS  = [the gradients of what the chain does: Multiply, Divide, Mask, TanhBackward…]* dS' [TypeCast]
 *     dQ  = MatMul(dS, K)                                          dK = MatMul(dS, Q)ᵀ [ReduceSum]
 */
export function backwardParts(exp: GraphNode, topology: Topology): BackwardParts | null {
  const { producers } = topology;
  if (exp.kind !== 'Exp') return null;
  const subtract = producers.get(exp.inputs[0].id);
  const chain = subtract?.kind === 'Subtract' ? scoreChain(subtract.inputs[0].id, topology) : null;
  if (!subtract || !chain) return null;
  const P = exp.outputs[0].id;
  const softmax = softmaxGradient(P, topology);
  if (!softmax) return null;

  const inner = backTo(softmax.dP, 'MatMul', topology);
  if (!inner || !flagOf(inner.node.attributes, 'transpose_b') || flagOf(inner.node.attributes, 'transpose_a'))
    return null;
  const [dO, v] = inner.node.inputs.map(t => t.id);
  const value = valueGradient(P, dO, topology);
  const equal = value && equalScalars(inner.dropout, value.dropout);
  if (!value || !equal) return null;

  const scaled = scoreGradient(softmax.result, chain, topology);
  const products = scaled && inputGradients(scaled.result, chain, topology);
  if (!products) return null;
  const gradients = [value.dv, products.dq, products.dk].filter(part => part !== null);
  if (gradients.length === 0) return null;
  const ends = topology.uses(softmax.result).filter(use => use.node.kind === 'End');
  const nodes = new Set([
    ...chain.nodes,
    subtract,
    exp,
    ...softmax.nodes,
    inner.node,
    ...inner.nodes,
    ...value.nodes,
    ...scaled.nodes,
    ...gradients.flatMap(({ matmul, reduce }) => (reduce ? [matmul, reduce] : [matmul])),
    ...ends.map(use => use.node),
  ]);
  return {
    chain,
    nodes,
    stats: subtract.inputs[1].id,
    dO,
    v,
    dP: inner.node,
    o: softmax.o === null ? null : softmax.o(dO),
    dropout: inner.dropout,
    equal,
    ignoresMasks: scaled.masks < chain.links.filter(link => link.node.kind === 'Select').length,
    dMask: ends.length > 0 ? softmax.result : null,
    dv: value.dv,
    ...products,
  };
}

interface SoftmaxGradient {
  readonly nodes: readonly GraphNode[];
  readonly dP: number;
  /** Which of two factors is O, the other being dO. */
  readonly o: ((dO: number) => number) | null;
  readonly result: number;
}

function softmaxGradient(P: number, { uses, producers, shapeOf }: Topology): SoftmaxGradient | null {
  for (const { node, input } of uses(P)) {
    const result = node.outputs[0]?.id;
    if (node.kind === 'SoftMaxBackward' && input === 1) {
      return { nodes: [node], dP: node.inputs[0].id, o: null, result };
    }
    if (node.kind !== 'Multiply') continue;
    const difference = producers.get(node.inputs[1 - input].id);
    const sum = difference?.kind === 'Subtract' ? producers.get(difference.inputs[1].id) : undefined;
    const product = sum?.kind === 'ReduceSum' ? producers.get(sum.inputs[0].id) : undefined;
    if (!difference || !sum || product?.kind !== 'Multiply' || sum.attributes.keep_dims !== true) continue;
    const axes = numbersOf(sum.attributes, 'axes');
    const rank = shapeOf(sum.inputs[0].id)?.length;
    if (axes.length !== 1 || (axes[0] !== -1 && axes[0] + 1 !== rank)) continue;
    const factors = product.inputs.map(t => t.id);
    return {
      nodes: [node, difference, sum, product],
      dP: difference.inputs[0].id,
      o: dO => (factors[1] === dO ? factors[0] : factors[1]),
      result,
    };
  }
  return null;
}

/** The operation of a kind that a tensor comes from, perhaps through dropout. */
function backTo(
  tensor: number,
  kind: string,
  topology: Topology,
): {
  readonly node: GraphNode;
  readonly nodes: readonly GraphNode[];
  readonly dropout: DropoutMatch | null;
} | null {
  const direct = topology.producers.get(tensor);
  if (direct?.kind === kind) return { node: direct, nodes: [], dropout: null };
  if (direct?.kind !== 'Dropout' && direct?.kind !== 'Multiply') return null;
  for (const start of [
    direct.inputs[0].id,
    ...direct.inputs.flatMap(t => topology.producers.get(t.id)?.inputs ?? []).map(t => t.id),
  ]) {
    const node = topology.producers.get(start);
    const dropout = node?.kind === kind ? dropoutOf(start, topology) : null;
    if (node && dropout?.result === tensor) return { node, nodes: dropout.nodes, dropout };
  }
  return null;
}

/** The use of P that leads to dV; without one, dV is not asked for. Null when P is used otherwise. */
function valueGradient(
  P: number,
  dO: number,
  topology: Topology,
): {
  readonly dv: GradientMatMul | null;
  readonly nodes: readonly GraphNode[];
  readonly dropout: DropoutMatch | null;
} | null {
  const dropout = dropoutOf(P, topology);
  const nodes: GraphNode[] = [...(dropout?.nodes ?? [])];
  const dropped = dropout?.result ?? P;
  for (const use of topology.uses(dropped)) {
    const cast = use.node.kind === 'TypeCast' ? use.node : null;
    const probabilities = cast ? cast.outputs[0].id : dropped;
    const product = gradientMatMul(
      { tensor: probabilities, transposed: true },
      { tensor: dO, transposed: false },
      topology,
    );
    const dv = product && { ...product, transposed: false };
    if (dv) return { dv, nodes: cast ? [...nodes, cast] : nodes, dropout };
  }
  return dropout ? null : { dv: null, nodes: [], dropout: null };
}

/** A factor of a product. */
interface Factor {
  readonly tensor: number;
  readonly transposed: boolean;
}

/** The product of two tensors, each transposed or not, and a ReduceSum behind it. */
function gradientMatMul(a: Factor, b: Factor, { uses }: Topology): Omit<GradientMatMul, 'transposed'> | null {
  const matmul = uses(a.tensor).find(
    ({ node, input }) =>
      node.kind === 'MatMul' &&
      input === 0 &&
      node.inputs.length === 2 &&
      node.inputs[1].id === b.tensor &&
      flagOf(node.attributes, 'transpose_a') === a.transposed &&
      flagOf(node.attributes, 'transpose_b') === b.transposed,
  )?.node;
  if (!matmul) return null;
  const result = matmul.outputs[0].id;
  const [next, ...more] = uses(result);
  const reduce = more.length === 0 && next?.node.kind === 'ReduceSum' ? next.node : null;
  return { matmul, reduce, result: reduce ? reduce.outputs[0].id : result };
}

/** What must be equal for two dropouts to be the same; null when they are not. */
function equalScalars(
  a: DropoutMatch | null,
  b: DropoutMatch | null,
): readonly (readonly [number, number])[] | null {
  if (a === null || b === null) return a === b ? [] : null;
  const [p, other] = [a.p, b.p];
  if (a.scale !== b.scale || typeof p !== typeof other) return null;
  if (typeof p === 'number' || typeof other === 'number') {
    return p === other ? differing([a.seed, b.seed], [a.offset, b.offset]) : null;
  }
  return differing([a.seed, b.seed], [a.offset, b.offset], [p.tensor, other.tensor]);
}

function differing(...pairs: readonly (readonly [number, number])[]): readonly (readonly [number, number])[] {
  return pairs.filter(([a, b]) => a !== b);
}

/** dQ = dS·K and dK = dSᵀ·Q; where the graph has Kᵀ, dS·(Kᵀ)ᵀ and the transposed dKᵀ = Qᵀ·dS. */
function inputGradients(
  dS: number,
  { matmul }: ScoreChain,
  topology: Topology,
): Pick<BackwardParts, 'dq' | 'dk'> | null {
  if (flagOf(matmul.attributes, 'transpose_a')) return null;
  const [q, k] = matmul.inputs.map(t => t.id);
  const isRows = flagOf(matmul.attributes, 'transpose_b');
  const plain = (tensor: number): Factor => ({ tensor, transposed: false });
  const turned = (tensor: number): Factor => ({ tensor, transposed: true });
  const dq = gradientMatMul(plain(dS), isRows ? plain(k) : turned(k), topology);
  const dk = isRows
    ? gradientMatMul(turned(dS), plain(q), topology)
    : gradientMatMul(turned(q), plain(dS), topology);
  return {
    dq: dq && { ...dq, transposed: false },
    dk: dk && { ...dk, transposed: !isRows },
  };
}

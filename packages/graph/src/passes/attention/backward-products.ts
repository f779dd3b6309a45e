import type { GraphNode } from '../../ir/node.ts';
import { producersOf, type Topology } from '../../ir/topology.ts';
import { type DropoutMatch, dropoutOf } from './dropout.ts';
import { type Factor, factorsOf, type Product, productOf, swapsLastTwo, transposeOf } from './product.ts';
import type { ScoreChain } from './score-chain.ts';

/** A product that computes a gradient, and the operations after it. */
export interface GradientMatMul extends Product {
  /** The sum over the query heads that share a head of k or v. */
  readonly reduce: GraphNode | null;
  readonly result: number;
}

/**
 * The product dP = dO·Vᵀ that a tensor comes from; the product may be transposed, and dropout may follow it.
 */
export function productBefore(
  tensor: number,
  topology: Topology,
): {
  readonly dO: Factor;
  readonly v: Factor;
  readonly nodes: readonly GraphNode[];
  readonly dropout: DropoutMatch | null;
} | null {
  const dropout = dropoutBefore(tensor, topology);
  const before = dropout ? dropout.from : tensor;
  const producer = topology.producers.get(before);
  const swap = producer?.kind === 'StaticTranspose' && swapsLastTwo(producer) ? producer : null;
  const matmul = swap ? topology.producers.get(swap.inputs[0].id) : producer;
  if (matmul?.kind !== 'MatMul' || matmul.inputs.length !== 2) return null;
  const [x, y] = factorsOf(matmul);
  return {
    dO: swap ? transposeOf(y) : x,
    v: transposeOf(swap ? transposeOf(x) : y),
    nodes: [matmul, ...(swap ? [swap] : []), ...(dropout?.match.nodes ?? [])],
    dropout: dropout?.match ?? null,
  };
}

/** The dropout whose result is a tensor, and the input of that dropout. */
function dropoutBefore(
  tensor: number,
  topology: Topology,
): { readonly match: DropoutMatch; readonly from: number } | null {
  const last = topology.producers.get(tensor);
  if (last?.kind !== 'Dropout' && last?.kind !== 'Multiply') return null;
  // Dropout is one operation or two Multiply operations.
  const first = producersOf(last, topology.producers);
  for (const { id: from } of [...last.inputs, ...first.flatMap(node => node.inputs)]) {
    const match = dropoutOf(from, topology);
    if (match?.result === tensor) return { match, from };
  }
  return null;
}

/**
 * The products that read P: dV = Pᵀ·dO if it is requested, and O = P·V if it is recomputed. Null if dropout
 * of P leads elsewhere.
 */
export function productsOfP(
  P: number,
  dO: Factor,
  v: Factor,
  topology: Topology,
): {
  readonly dv: GradientMatMul | null;
  readonly recomputed: Product | null;
  readonly nodes: readonly GraphNode[];
  readonly dropout: DropoutMatch | null;
} | null {
  const dropout = dropoutOf(P, topology);
  const forms = storedForms(dropout?.result ?? P, topology);
  const found = <R>(productOf: (factor: Factor) => R | null) => {
    for (const { nodes, factor } of forms) {
      const product = productOf(factor);
      if (product) return { product, nodes };
    }
    return null;
  };
  const dv = found(factor => gradientMatMul(transposeOf(factor), dO, topology));
  const recomputed = found(factor => productOf(factor, v, topology));
  if (dropout && !dv && !recomputed) return null;
  return {
    dv: dv?.product ?? null,
    recomputed: recomputed?.product ?? null,
    nodes: [...(dropout?.nodes ?? []), ...(dv?.nodes ?? []), ...(recomputed?.nodes ?? [])],
    dropout,
  };
}

/** A matrix, and its copies with another dtype or with the last two dimensions swapped. */
function storedForms(
  tensor: number,
  { uses }: Topology,
): { readonly nodes: readonly GraphNode[]; readonly factor: Factor }[] {
  const forms = [{ nodes: [] as readonly GraphNode[], factor: { tensor, transposed: false } }];
  for (const { nodes, factor } of forms) {
    for (const { node } of uses(factor.tensor)) {
      const swaps = node.kind === 'StaticTranspose' && swapsLastTwo(node);
      if (!swaps && node.kind !== 'TypeCast' && node.kind !== 'Reorder') continue;
      const next = { tensor: node.outputs[0].id, transposed: factor.transposed !== swaps };
      forms.push({ nodes: [...nodes, node], factor: next });
    }
  }
  return forms;
}

/** The product of two factors, and a ReduceSum after it. */
function gradientMatMul(x: Factor, y: Factor, topology: Topology): GradientMatMul | null {
  const product = productOf(x, y, topology);
  if (!product) return null;
  const result = product.matmul.outputs[0].id;
  const [next, ...more] = topology.uses(result);
  const reduce = more.length === 0 && next?.node.kind === 'ReduceSum' ? next.node : null;
  return { ...product, reduce, result: reduce ? reduce.outputs[0].id : result };
}

/** The scalars that must be equal for two dropouts to draw the same mask; null if they cannot be the same. */
export function equalScalars(
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

/** dQ = dS·K and dK = dSᵀ·Q. */
export function inputGradients(
  dS: number,
  { matmul }: ScoreChain,
  topology: Topology,
): { readonly dq: GradientMatMul | null; readonly dk: GradientMatMul | null } {
  const [q, kT] = factorsOf(matmul);
  const gradient: Factor = { tensor: dS, transposed: false };
  return {
    dq: gradientMatMul(gradient, transposeOf(kT), topology),
    dk: gradientMatMul(transposeOf(gradient), q, topology),
  };
}

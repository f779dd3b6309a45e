import type { GraphNode } from '../graph/node.ts';
import type { Topology } from '../graph/topology.ts';
import { numberOf, numbersOf } from '../schema/attribute.ts';
import { type DropoutMatch, dropoutOf } from './dropout-of.ts';
import { type Factor, factorsOf, type Product, productOf, swapsLastTwo, turned } from './product-of.ts';
import { type ScoreChain, scoreChain } from './score-chain.ts';
import { scoreGradient } from './score-gradient.ts';

/** A product that gives a gradient, and what its result goes through. */
export interface GradientMatMul extends Product {
  /** Sums the heads that share one of k or v. */
  readonly reduce: GraphNode | null;
  readonly result: number;
}

/** An axis, as it is given, of a tensor. */
interface Summed extends Factor {
  readonly axis: number;
}

/** The operations of a backward pass, by their roles. */
export interface BackwardParts {
  readonly chain: ScoreChain;
  readonly nodes: ReadonlySet<GraphNode>;
  /** Tensors that must have the shape of the scores. */
  readonly likeScores: readonly number[];
  /** What the gradient of softmax is summed along: must be the last axis; of a tensor that is transposed, the one before. */
  readonly summed: Summed;
  readonly stats: number;
  readonly dO: Factor;
  readonly v: Factor;
  /** The result of forward; null where it is computed again, or the gradient of softmax from the probabilities. */
  readonly o: Factor | null;
  readonly dropout: DropoutMatch | null;
  /** That of dP and that of P, where there are. */
  readonly dropouts: readonly DropoutMatch[];
  /** Scalars of the two dropouts that are different tensors and must hold the same. */
  readonly equal: readonly (readonly [number, number])[];
  /** Whether the gradient goes through every Select of the chain as if there were none. */
  readonly ignoresMasks: boolean;
  /** The gradient of the masked scores, when an `End` makes it a result. */
  readonly dMask: number | null;
  readonly dv: GradientMatMul | null;
  readonly dq: GradientMatMul | null;
  readonly dk: GradientMatMul | null;
  /** The product P·V where it is computed again, as what else reads O may have to. */
  readonly again: Product | null;
}

/**
 * The backward pass of attention around P = Exp(Subtract(S', stats)):
 *
 *     dV  = MatMul([TypeCast] [dropout] P, dO)ᵀ [ReduceSum]        dP = MatMul(dO, V)ᵀ [dropout]
 *     dS' = Multiply(P, Subtract(dP, ReduceSum(Multiply(O, dO))ᵀ)) or SoftMaxBackward(dP, P)    [End]
 *     dS  = [the gradients of what the chain does: Multiply, Divide, Mask, TanhBackward…]* dS' [TypeCast]
 *     dQ  = MatMul(dS, K)                                          dK = MatMul(dS, Q)ᵀ [ReduceSum]
 *     [O  = MatMul([dropout] [TypeCast] P, V)]
 *
 * Any factor may be stored transposed, and any product be that of the transposed factors.
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

  const inner = productBefore(softmax.dP, topology);
  if (!inner) return null;
  const { dO, v } = inner;
  // Rows of O∘dO are those of both.
  const { transposed } = softmax.summed;
  const factors = softmax.o && (dO.transposed === transposed ? softmax.o(dO.tensor) : null);
  if (softmax.o && factors === null) return null;
  const value = productsOfP(P, dO, v, topology);
  const equal = value && equalScalars(inner.dropout, value.dropout);
  if (!value || !equal) return null;

  const scaled = scoreGradient(softmax.result, chain, topology);
  const products = scaled && inputGradients(scaled.result, chain, topology);
  if (!products) return null;
  const { dv, again } = value;
  const isAgain = again?.matmul.outputs[0].id === factors?.o && again?.transposed === transposed;
  const gradients = [dv, products.dq, products.dk].filter(part => part !== null);
  if (gradients.length === 0) return null;
  const endsOf = (tensor: number): GraphNode[] =>
    topology.uses(tensor).flatMap(({ node }) => (node.kind === 'End' ? [node] : []));
  const ends = endsOf(softmax.result);
  const nodes = new Set([
    ...chain.nodes,
    subtract,
    exp,
    ...softmax.nodes,
    ...(factors?.cast ? [factors.cast] : []),
    ...inner.nodes,
    ...value.nodes,
    ...scaled.nodes,
    ...gradients.flatMap(({ matmul, reduce }) => (reduce ? [matmul, reduce] : [matmul])),
    ...(again ? [again.matmul, ...endsOf(again.matmul.outputs[0].id)] : []),
    ...ends,
  ]);
  return {
    chain,
    nodes,
    likeScores: [P, softmax.dP, softmax.result, scaled.result],
    summed: softmax.summed,
    stats: subtract.inputs[1].id,
    dO,
    v,
    o: factors && !isAgain ? { tensor: factors.o, transposed } : null,
    dropout: inner.dropout,
    dropouts: [inner.dropout, value.dropout].filter(dropout => dropout !== null),
    equal,
    ignoresMasks: scaled.masks < chain.links.filter(link => link.node.kind === 'Select').length,
    dMask: ends.length > 0 ? softmax.result : null,
    dv,
    ...products,
    again,
  };
}

interface SoftmaxGradient {
  readonly nodes: readonly GraphNode[];
  readonly dP: number;
  readonly summed: Summed;
  /** Which of two factors is O, the other being dO or that in another dtype, which a cast gives; null when none is. */
  readonly o: ((dO: number) => { readonly o: number; readonly cast: GraphNode | null } | null) | null;
  readonly result: number;
}

function softmaxGradient(P: number, { uses, producers }: Topology): SoftmaxGradient | null {
  for (const { node, input } of uses(P)) {
    const result = node.outputs[0]?.id;
    if (node.kind === 'SoftMaxBackward' && input === 1) {
      const summed = { tensor: P, transposed: false, axis: numberOf(node.attributes, 'axis') };
      return { nodes: [node], dP: node.inputs[0].id, summed, o: null, result };
    }
    if (node.kind !== 'Multiply') continue;
    const difference = producers.get(node.inputs[1 - input].id);
    const rows = difference?.kind === 'Subtract' ? producers.get(difference.inputs[1].id) : undefined;
    const turn = rows?.kind === 'StaticTranspose' && swapsLastTwo(rows) ? rows : null;
    const sum = turn ? producers.get(turn.inputs[0].id) : rows;
    const product = sum?.kind === 'ReduceSum' ? producers.get(sum.inputs[0].id) : undefined;
    if (!difference || !sum || product?.kind !== 'Multiply' || sum.attributes.keep_dims !== true) continue;
    const [axis, ...more] = numbersOf(sum.attributes, 'axes');
    if (axis === undefined || more.length > 0) continue;
    const factors = product.inputs.map(t => t.id);
    return {
      nodes: [node, difference, ...(turn ? [turn] : []), sum, product],
      dP: difference.inputs[0].id,
      summed: { tensor: product.outputs[0].id, transposed: turn !== null, axis },
      o: dO => {
        for (const [o, other] of [factors, [...factors].reverse()]) {
          const producer = producers.get(other);
          const cast = other !== dO && producer?.kind === 'TypeCast' ? producer : null;
          if (other === dO || cast?.inputs[0].id === dO) return { o, cast };
        }
        return null;
      },
      result,
    };
  }
  return null;
}

/** The product dP = dO·Vᵀ that a tensor comes from, perhaps transposed and through dropout. */
function productBefore(
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
    dO: swap ? turned(y) : x,
    v: turned(swap ? turned(x) : y),
    nodes: [matmul, ...(swap ? [swap] : []), ...(dropout?.match.nodes ?? [])],
    dropout: dropout?.match ?? null,
  };
}

/** The dropout that a tensor is the result of, and what goes into it. */
function dropoutBefore(
  tensor: number,
  topology: Topology,
): { readonly match: DropoutMatch; readonly from: number } | null {
  const last = topology.producers.get(tensor);
  if (last?.kind !== 'Dropout' && last?.kind !== 'Multiply') return null;
  // Dropout is one operation or two products.
  const first = last.inputs.flatMap(t => topology.producers.get(t.id) ?? []);
  for (const { id: from } of [...last.inputs, ...first.flatMap(node => node.inputs)]) {
    const match = dropoutOf(from, topology);
    if (match?.result === tensor) return { match, from };
  }
  return null;
}

/** The products of P: dV = Pᵀ·dO, unless it is not asked for, and O = P·V where it is computed again. Null when P is used otherwise. */
function productsOfP(
  P: number,
  dO: Factor,
  v: Factor,
  topology: Topology,
): {
  readonly dv: GradientMatMul | null;
  readonly again: Product | null;
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
  const dv = found(factor => gradientMatMul(turned(factor), dO, topology));
  const again = found(factor => productOf(factor, v, topology));
  if (dropout && !dv && !again) return null;
  return {
    dv: dv?.product ?? null,
    again: again?.product ?? null,
    nodes: [...(dropout?.nodes ?? []), ...(dv?.nodes ?? []), ...(again?.nodes ?? [])],
    dropout,
  };
}

/** A matrix as it is, and what it is stored as: in another dtype, with its last two dimensions swapped. */
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

/** The product of two factors, and a ReduceSum behind it. */
function gradientMatMul(x: Factor, y: Factor, topology: Topology): GradientMatMul | null {
  const product = productOf(x, y, topology);
  if (!product) return null;
  const result = product.matmul.outputs[0].id;
  const [next, ...more] = topology.uses(result);
  const reduce = more.length === 0 && next?.node.kind === 'ReduceSum' ? next.node : null;
  return { ...product, reduce, result: reduce ? reduce.outputs[0].id : result };
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

/** dQ = dS·K and dK = dSᵀ·Q. */
function inputGradients(
  dS: number,
  { matmul }: ScoreChain,
  topology: Topology,
): Pick<BackwardParts, 'dq' | 'dk'> {
  const [q, kT] = factorsOf(matmul);
  const gradient: Factor = { tensor: dS, transposed: false };
  return {
    dq: gradientMatMul(gradient, turned(kT), topology),
    dk: gradientMatMul(turned(gradient), q, topology),
  };
}

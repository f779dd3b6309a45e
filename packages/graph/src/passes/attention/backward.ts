import type { GraphNode } from '../../ir/node.ts';
import { numberOf, numbersOf } from '../../ir/schema/attribute.ts';
import type { Topology } from '../../ir/topology.ts';
import { comeFromOutside, onlyResultsLeave } from '../fuse/boundary.ts';
import { fuseAfter, fuseBefore, layoutKinds } from '../fuse/fuse.ts';
import {
  equalScalars,
  type GradientMatMul,
  inputGradients,
  productBefore,
  productsOfP,
} from './backward-products.ts';
import { type DropoutMatch, dropoutOperands } from './dropout.ts';
import { type Factor, type Product, swapsLastTwo } from './product.ts';
import { type ScoreChain, scoreChain } from './score-chain.ts';
import { scoreGradient } from './score-gradient.ts';

/** A tensor and an axis of it, as the operation gives the axis. */
interface Summed extends Factor {
  readonly axis: number;
}

/** The operations of a backward pass by role. */
export interface BackwardParts {
  readonly chain: ScoreChain;
  readonly nodes: ReadonlySet<GraphNode>;
  /** The tensors that must have the shape of the scores. */
  readonly likeScores: readonly number[];
  /**
   * The axis of the sum in the gradient of softmax. It must be the last axis, or for a transposed tensor the
   * one before it.
   */
  readonly summed: Summed;
  readonly stats: number;
  readonly dO: Factor;
  readonly v: Factor;
  /**
   * The output of forward; null if it is recomputed, or if the gradient of softmax uses the probabilities.
   */
  readonly o: Factor | null;
  readonly dropout: DropoutMatch | null;
  /** The dropouts of dP and of P. */
  readonly dropouts: readonly DropoutMatch[];
  /** The pairs of scalars that are different tensors in the two dropouts but must be equal. */
  readonly equal: readonly (readonly [number, number])[];
  /** Whether the gradient ignores a Select in the chain. */
  readonly ignoresMasks: boolean;
  /** The gradient of the masked scores, if an `End` makes it a result. */
  readonly dMask: number | null;
  readonly dv: GradientMatMul | null;
  readonly dq: GradientMatMul | null;
  readonly dk: GradientMatMul | null;
  /** The product P·V, if the backward pass recomputes it. */
  readonly recomputed: Product | null;
}

/**
 * Recognises the backward pass of attention by P = Exp(Subtract(S', stats)):
 *
 *     dV  = MatMul([TypeCast] [dropout] P, dO)ᵀ [ReduceSum]        dP = MatMul(dO, V)ᵀ [dropout]
 *     dS' = Multiply(P, Subtract(dP, ReduceSum(Multiply(O, dO))ᵀ)) or SoftMaxBackward(dP, P)    [End]
 *     dS  = [the gradients of the chain: Multiply, Divide, Mask, TanhBackward…]* dS' [TypeCast]
 *     dQ  = MatMul(dS, K)                                          dK = MatMul(dS, Q)ᵀ [ReduceSum]
 *     [O  = MatMul([dropout] [TypeCast] P, V)]
 *
 * Any factor may be stored transposed, and any product may be transposed.
 */
function backwardParts(exp: GraphNode, topology: Topology): BackwardParts | null {
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
  // O∘dO multiplies O and dO as they are stored: dO is stored transposed exactly if its columns are summed.
  const { transposed } = softmax.summed;
  const factors = softmax.o && (dO.transposed === transposed ? softmax.o(dO.tensor) : null);
  if (softmax.o && factors === null) return null;
  const value = productsOfP(P, dO, v, topology);
  const equal = value && equalScalars(inner.dropout, value.dropout);
  if (!value || !equal) return null;

  const scaled = scoreGradient(softmax.result, chain, topology);
  const products = scaled && inputGradients(scaled.result, chain, topology);
  if (!products) return null;
  const { dv, recomputed } = value;
  const isRecomputed =
    recomputed?.matmul.outputs[0].id === factors?.o && recomputed?.transposed === transposed;
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
    ...(recomputed ? [recomputed.matmul, ...endsOf(recomputed.matmul.outputs[0].id)] : []),
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
    o: factors && !isRecomputed ? { tensor: factors.o, transposed } : null,
    dropout: inner.dropout,
    dropouts: [inner.dropout, value.dropout].filter(dropout => dropout !== null),
    equal,
    ignoresMasks: scaled.masks < chain.links.filter(link => link.node.kind === 'Select').length,
    dMask: ends.length > 0 ? softmax.result : null,
    dv,
    ...products,
    recomputed,
  };
}

interface SoftmaxGradient {
  readonly nodes: readonly GraphNode[];
  readonly dP: number;
  readonly summed: Summed;
  /** Finds O among the two factors of O∘dO, where dO may be cast; null if neither factor is dO. */
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
    const transpose = rows?.kind === 'StaticTranspose' && swapsLastTwo(rows) ? rows : null;
    const sum = transpose ? producers.get(transpose.inputs[0].id) : rows;
    const product = sum?.kind === 'ReduceSum' ? producers.get(sum.inputs[0].id) : undefined;
    if (!difference || !sum || product?.kind !== 'Multiply' || sum.attributes.keep_dims !== true) continue;
    const [axis, ...more] = numbersOf(sum.attributes, 'axes');
    if (axis === undefined || more.length > 0) continue;
    const factors = product.inputs.map(t => t.id);
    return {
      nodes: [node, difference, ...(transpose ? [transpose] : []), sum, product],
      dP: difference.inputs[0].id,
      summed: { tensor: product.outputs[0].id, transposed: transpose !== null, axis },
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

/** A backward pass, with the operations that decode its operands and change the storage of its results. */
export interface BackwardMatch extends BackwardParts {
  readonly before: readonly GraphNode[];
  readonly tails: readonly GraphNode[];
  /** All operations of the match. */
  readonly all: ReadonlySet<GraphNode>;
}

/** Recognises the backward pass of attention; `backwardParts` shows the pattern. */
export function backwardMatch(anchor: GraphNode, topology: Topology): BackwardMatch | null {
  const parts = backwardParts(anchor, topology);
  if (!parts) return null;
  const { chain } = parts;
  const gradients = [parts.dv, parts.dq, parts.dk].filter(part => part !== null);
  const tails = gradients.map(({ result }) => fuseAfter(result, topology, layoutKinds));
  const others = [parts.v.tensor, parts.dO.tensor, parts.stats, ...(parts.o ? [parts.o.tensor] : [])];
  const operands = [...[...chain.nodes].flatMap(node => node.inputs.map(t => t.id)), ...others];
  const before = fuseBefore(operands, parts.nodes, topology);
  const entering = [
    ...others,
    ...parts.dropouts.flatMap(dropoutOperands),
    ...before.flatMap(node => node.inputs.map(t => t.id)),
  ];
  if (!comeFromOutside(entering, parts.nodes, topology)) return null;
  const nodes = new Set([...before, ...parts.nodes, ...tails.flatMap(tail => tail.nodes)]);
  const results = new Set([
    ...tails.map(tail => tail.result),
    ...(parts.dMask === null ? [] : [parts.dMask]),
    ...(parts.recomputed ? [parts.recomputed.matmul.outputs[0].id] : []),
  ]);
  if (!onlyResultsLeave(nodes, results, topology)) return null;
  return { ...parts, before, tails: tails.flatMap(tail => tail.nodes), all: nodes };
}

import type { Graph } from '../graph/graph.ts';
import type { GraphDType } from '../tensor/dtype.ts';
import type { LogicalTensor } from '../tensor/logical-tensor.ts';
import type { SdpaArguments, SdpaBackwardArguments } from './arguments.ts';
import { grouping, writeScores } from './composite-scores.ts';
import { opWriter } from './op-writer.ts';

/** Writes forward as MatMul · scores · SoftMax · dropout · MatMul. */
export function addComposite(
  graph: Graph,
  args: SdpaArguments,
): { readonly o: LogicalTensor; readonly stats?: LogicalTensor } {
  const write = opWriter(graph, args.name);
  const { op, reshape, cast } = write;
  const { q, k, v, dropout, oDType = q.dtype } = args;
  const heads = grouping(write, args);
  const product = op('MatMul', [heads.perQueryHead(q), heads.perKeyHead(k)], { transpose_b: true });
  const { scores } = writeScores(write, args, heads, product);
  const softmax = { p: graph.tensor({ dtype: 'f32' }), stats: graph.tensor({ dtype: 'f32' }) };
  graph.op('SoftMax', {
    attrs: { axis: -1, mode: 'inf_as_zero' },
    inputs: [scores],
    outputs: args.generateStats ? [softmax.p, softmax.stats] : [softmax.p],
    ...(args.name && { name: `${args.name}/softmax` }),
  });
  const dropped =
    dropout?.length === 3
      ? op('Dropout', [softmax.p, ...dropout.slice(1)] as LogicalTensor[], { p: dropout[0] })
      : softmax.p;
  const o = op('MatMul', [cast(dropped, v.dtype), heads.perKeyHead(v)], {}, productDType(v.dtype, oDType));
  const [B, Hq, Sq] = q.shape ?? [];
  const ungrouped = (t: LogicalTensor, last: number): LogicalTensor =>
    heads.groups === 1 ? t : reshape(t, [B, Hq, Sq, last]);
  return {
    o: cast(ungrouped(o, v.shape?.[3] ?? 1), oDType),
    ...(args.generateStats && { stats: ungrouped(softmax.stats, 1) }),
  };
}

/** The dtype that a product can give on the way to another. */
function productDType(from: GraphDType, to: GraphDType): GraphDType {
  return from === to ? to : 'f32';
}

/**
 * Writes backward around P = e^(scores − stats):
 *
 *     dV = dropout(P)ᵀ·dO      dP = dropout(dO·Vᵀ)      dS = scale · P∘(dP − rowsum(O∘dO))      dQ = dS·K      dK = dSᵀ·Q
 */
export function addCompositeBackward(
  graph: Graph,
  args: SdpaBackwardArguments,
): { readonly dq: LogicalTensor; readonly dk: LogicalTensor; readonly dv: LogicalTensor } {
  const write = opWriter(graph, args.name);
  const { op, reshape, cast } = write;
  const heads = grouping(write, args);
  const [q, o, dO, stats] = [args.q, args.o, args.dO, args.stats].map(t => heads.perQueryHead(t));
  const [k, v] = [args.k, args.v].map(t => heads.perKeyHead(t));
  const { dropout } = args;
  const drop = (t: LogicalTensor): LogicalTensor =>
    dropout?.length === 3 ? op('Dropout', [t, ...dropout.slice(1)] as LogicalTensor[], { p: dropout[0] }) : t;

  const product = op('MatMul', [q, k], { transpose_b: true });
  const { scores, conditions, scale } = writeScores(write, args, heads, product);
  const P = op('Exp', [op('Subtract', [scores, stats])]);
  const dP = drop(op('MatMul', [dO, v], { transpose_b: true }));
  const delta = op('ReduceSum', [op('Multiply', [o, dO])], { axes: [-1], keep_dims: true });
  let dS = op('Multiply', [P, op('Subtract', [dP, delta])]);
  for (const condition of [...conditions].reverse()) dS = op('Mask', [dS, condition]);
  if (scale) dS = op('Multiply', [dS, scale]);
  const dSInput = cast(dS, q.dtype);

  /** The product of a gradient by keys or values, summed over the heads that share them. */
  const shared = (a: LogicalTensor, b: LogicalTensor, like: LogicalTensor): LogicalTensor => {
    if (heads.groups === 1) return op('MatMul', [a, b], { transpose_a: true }, like.dtype);
    const each = op('MatMul', [a, b], { transpose_a: true });
    const sum = op('ReduceSum', [each], { axes: [2], keep_dims: true });
    return cast(reshape(sum, like.shape ?? []), like.dtype);
  };
  const dv = shared(cast(drop(P), dO.dtype), dO, args.v);
  const dqGrouped = op('MatMul', [dSInput, k], {}, args.q.dtype);
  return {
    dq: heads.groups === 1 ? dqGrouped : reshape(dqGrouped, args.q.shape ?? []),
    dk: shared(dSInput, q, args.k),
    dv,
  };
}

import type { Graph } from '../../../graph.ts';
import type { GraphDType } from '../../../ir/tensor/dtype.ts';
import type { LogicalTensor } from '../../../ir/tensor/logical-tensor.ts';
import type { AnyArguments } from '../arguments/arguments.ts';
import { type OpWriter, opWriter } from '../op-writer.ts';
import { grouping, writeScores } from './scores.ts';
import { type CompositeSteps, plainSteps } from './steps.ts';

/** The arguments of a composite forward node. */
export interface CompositeForward extends AnyArguments<LogicalTensor> {
  readonly steps?: CompositeSteps;
}

/** The arguments of a composite backward node; gradients default to the dtypes of q, k and v. */
export interface CompositeBackward extends CompositeForward {
  readonly o: LogicalTensor;
  readonly dO: LogicalTensor;
  readonly stats: LogicalTensor;
  readonly gradDType?: GraphDType;
}

/** Writes forward as MatMul, scores, SoftMax, dropout and MatMul. */
export function addComposite(
  graph: Graph,
  args: CompositeForward,
  write: OpWriter = opWriter(graph, args.name),
): { readonly o: LogicalTensor; readonly stats?: LogicalTensor } {
  const { op, reshape, cast } = write;
  const { steps = plainSteps(write), oDType = args.q.dtype } = args;
  const heads = grouping(write, args);
  const [q, k, v] = [args.q, args.k, args.v].map(steps.operand);
  const product = op('MatMul', [heads.perQueryHead(q), heads.perKeyHead(k)], { transpose_b: true });
  const { scores } = writeScores(write, args, heads, steps.apply('product', product));
  const softmax = { p: graph.tensor({ dtype: 'f32' }), stats: graph.tensor({ dtype: 'f32' }) };
  graph.op('SoftMax', {
    attrs: { axis: -1, mode: 'inf_as_zero' },
    inputs: [scores],
    outputs: args.generateStats ? [softmax.p, softmax.stats] : [softmax.p],
    ...(args.name && { name: `${args.name}/softmax` }),
  });
  const weights = cast(steps.apply('weight', dropped(write, args, softmax.p)), v.dtype);
  const o = op('MatMul', [weights, heads.perKeyHead(v)], {}, productDType(v.dtype, oDType));
  const [B, Hq, Sq] = args.q.shape ?? [];
  const ungrouped = (t: LogicalTensor, last: number): LogicalTensor =>
    heads.groups === 1 ? t : reshape(t, [B, Hq, Sq, last]);
  return {
    o: steps.stored(ungrouped(steps.apply('o', o), args.v.shape?.[3] ?? 1), oDType),
    ...(args.generateStats && { stats: ungrouped(softmax.stats, 1) }),
  };
}

/** The dtype of a product whose result is then stored in dtype `to`. */
function productDType(from: GraphDType, to: GraphDType): GraphDType {
  return from === to ? to : 'f32';
}

/** Applies dropout to a tensor in the shape of the scores; every call draws the same mask. */
function dropped(
  { op }: OpWriter,
  { dropout }: AnyArguments<LogicalTensor>,
  t: LogicalTensor,
): LogicalTensor {
  if (dropout?.length !== 3) return t;
  const [p, seed, offset] = dropout;
  return op('Dropout', [t, seed, offset], { p });
}

/**
 * Writes backward, from P = e^(scores − stats):
 *
 *     dV = dropout(P)ᵀ·dO      dP = dropout(dO·Vᵀ)      dS = scale · P∘(dP − rowsum(O∘dO))
 *     dQ = dS·K                dK = dSᵀ·Q
 */
export function addCompositeBackward(
  graph: Graph,
  args: CompositeBackward,
  write: OpWriter = opWriter(graph, args.name),
): { readonly dq: LogicalTensor; readonly dk: LogicalTensor; readonly dv: LogicalTensor } {
  const { op, reshape, cast } = write;
  const { steps = plainSteps(write), gradDType } = args;
  const heads = grouping(write, args);
  const stats = heads.perQueryHead(args.stats);
  const [q, o, dO] = [args.q, args.o, args.dO].map(t => heads.perQueryHead(steps.operand(t)));
  const [k, v] = [args.k, args.v].map(t => heads.perKeyHead(steps.operand(t)));

  const product = steps.apply('product', op('MatMul', [q, k], { transpose_b: true }));
  const { scores, conditions, scale } = writeScores(write, args, heads, product);
  const exp = op('Exp', [op('Subtract', [scores, stats])]);
  // For a row without visible keys, stats may be −∞, like its scores. FP8 operations therefore mask P; other
  // operations are recognised as attention, which handles such rows.
  const P = args.steps ? conditions.reduce((t, condition) => op('Mask', [t, condition]), exp) : exp;
  const dP = dropped(write, args, steps.apply('dp', op('MatMul', [dO, v], { transpose_b: true })));
  const rowSum = op('ReduceSum', [op('Multiply', [o, dO])], { axes: [-1], keep_dims: true });
  let dS = op('Multiply', [P, op('Subtract', [dP, steps.apply('delta', rowSum)])]);
  for (const condition of [...conditions].reverse()) dS = op('Mask', [dS, condition]);
  if (scale) dS = op('Multiply', [dS, scale]);
  const dSInput = cast(steps.apply('ds', dS), q.dtype);

  /** The gradient of keys or values, summed over the query heads that share them. */
  const shared = (
    name: 'dk' | 'dv',
    a: LogicalTensor,
    b: LogicalTensor,
    like: LogicalTensor,
  ): LogicalTensor => {
    const dtype = gradDType ?? like.dtype;
    if (heads.groups === 1) {
      const product = op('MatMul', [a, b], { transpose_a: true }, productDType(a.dtype, dtype));
      return steps.stored(steps.apply(name, product), dtype);
    }
    const each = op('MatMul', [a, b], { transpose_a: true });
    const sum = op('ReduceSum', [each], { axes: [2], keep_dims: true });
    return steps.stored(reshape(steps.apply(name, sum), like.shape ?? []), dtype);
  };
  const dv = shared('dv', cast(steps.apply('weight', dropped(write, args, P)), dO.dtype), dO, args.v);
  const dqDType = gradDType ?? args.q.dtype;
  const dq = steps.apply('dq', op('MatMul', [dSInput, k], {}, productDType(q.dtype, dqDType)));
  return {
    dq: steps.stored(heads.groups === 1 ? dq : reshape(dq, args.q.shape ?? []), dqDType),
    dk: shared('dk', dSInput, q, args.k),
    dv,
  };
}

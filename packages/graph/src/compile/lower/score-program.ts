import { sameShape } from '@tilewise/core';
import { and, type Expr, not, score, toF32 } from '@tilewise/core/expr';
import { input } from '@tilewise/core/primitive';
import type { GraphNode } from '../../ir/node.ts';
import type {
  ScalarProduct,
  ScoreOptions,
  StepDiagonal,
  StepMod,
  StepOptions,
} from '../../ir/program/attention-step.ts';
import { exprCost, MAX_EVALUATED } from '../../ir/program/expr.ts';
import type { Value } from '../../ir/program/lowering.ts';
import { broadcastShapes } from '../../ir/tensor/shape.ts';
import { truth } from '../../ops/elementwise/numeric.ts';
import { indexOperations, type Link, type ScoreChain } from '../../passes/attention/score-chain.ts';
import { asHeads, type HeadLayout } from './heads.ts';
import type { MatchLowering } from './match-lowering.ts';
import { isScalar, OperandReader } from './operand-reader.ts';
import { indexAxis } from './place-expr.ts';

/** The stages of a score: as one expression, and if possible as options that kernels run fast. */
export type ScoreProgram = Pick<StepOptions, 'scoreMod' | 'options'>;

/** The maximum number of operations in a chain. */
const MAX_OPERATIONS = 256;

/**
 * A chain as a score program.
 * @returns null when an operation changes the shape of the scores, an operand cannot be read, or the chain is
 * too long.
 */
export function scoreProgram(
  { matmul, links, nodes }: ScoreChain,
  layout: HeadLayout,
  lowering: MatchLowering,
): ScoreProgram | null {
  if (nodes.size > MAX_OPERATIONS) return null;
  const reader = new OperandReader(lowering, layout);
  let expr: Expr = score;
  // A link may also read the scores before the first link.
  const before = new Map<number, Expr>([[matmul.outputs[0].id, score]]);
  for (const { node } of links) {
    if (!sameShape(lowering.desc(node.outputs[0].id).shape, layout.scores)) return null;
    if (node.kind !== 'TypeCast') {
      const operands: Expr[] = [];
      for (const t of node.inputs) {
        const operand = before.get(t.id) ?? reader.read(t.id);
        if (operand === null) return null;
        operands.push(operand);
      }
      const next = node.operation.element?.(operands, node.attributes);
      if (!next) return null;
      expr = next;
    }
    before.set(node.outputs[0].id, expr);
  }
  if (exprCost(expr) > MAX_EVALUATED) return null;
  return {
    scoreMod: { expr: toF32(expr), captures: reader.captures },
    options: readsScoresOnce(links, before) ? scoreOptions(links, layout, lowering) : null,
  };
}

function readsScoresOnce(links: readonly Link[], scores: ReadonlyMap<number, Expr>): boolean {
  return links.every(({ node, score: at }) => node.inputs.every((t, n) => n === at || !scores.has(t.id)));
}

/** The chain as options if it has their meaning and order; else null. */
function scoreOptions(
  links: readonly Link[],
  layout: HeadLayout,
  lowering: MatchLowering,
): ScoreOptions | null {
  const { builder, topology } = lowering;
  const scalarOf = (tensor: number): Value | null => {
    if (topology.producers.has(tensor) && indexOperations(tensor, topology).length > 0) return null;
    const value = lowering.value(tensor);
    return isScalar(value.desc.shape) ? value : null;
  };
  let scale: ScalarProduct['factors'] = [];
  let softcap: ScalarProduct['factors'] | null = null;
  let bias: Value | null = null;
  let mask: Value | null = null;
  let diagonal: StepDiagonal | undefined;
  let maskMod: StepMod | undefined;
  let scaledAfterMask = false;
  const fills: number[] = [];
  const isMasked = (): boolean => mask !== null || diagonal !== undefined || maskMod !== undefined;

  for (const { node, score: at } of links) {
    const other = node.inputs[1 - at]?.id;
    switch (node.kind) {
      case 'TypeCast':
        break;
      case 'Multiply':
      case 'Divide': {
        const factor = scalarOf(other);
        if (!factor || bias || (node.kind === 'Divide' && at !== 0)) return null;
        const term = { value: factor.index, inverse: node.kind === 'Divide' };
        if (softcap === null) {
          scale = [...scale, term];
          scaledAfterMask ||= isMasked();
        } else {
          // c·tanh(s·x): the cap is c, and the scale compensates for the division by the cap.
          if (softcap.length > 0) return null;
          softcap = [term];
          scale = [...scale, term];
        }
        break;
      }
      case 'Tanh':
        if (softcap || bias || isMasked()) return null;
        softcap = [];
        break;
      case 'Add': {
        if (bias) return null;
        if (indexOperations(other, topology).length > 0) return null;
        bias = asHeads(builder, lowering.value(other), layout, 'broadcast');
        break;
      }
      case 'Select': {
        if (at === 0) return null;
        const fill = scalarOf(node.inputs[at === 1 ? 2 : 1].id);
        if (!fill) return null;
        fills.push(fill.index);
        const keeps = at === 1;
        const condition = node.inputs[0].id;
        const operations = indexOperations(condition, topology);
        if (operations.length === 0) {
          const visible = visibleMask(lowering, lowering.value(condition), layout, keeps);
          mask = mask === null ? visible : bothMasks(lowering, mask, visible);
          break;
        }
        const found = keeps && !diagonal ? diagonalOf(condition, layout, lowering) : null;
        if (found) {
          diagonal = found;
          break;
        }
        const reader = new OperandReader(lowering, layout);
        const holds = reader.read(condition);
        if (holds === null || maskMod) return null;
        maskMod = { expr: keeps ? truth(holds) : not(truth(holds)), captures: reader.captures };
        break;
      }
      default:
        return null;
    }
  }
  return {
    scale: { factors: scale },
    ...(softcap && { softcap: { factors: softcap } }),
    ...(bias && { bias: bias.index }),
    ...(mask && { mask: (mask as Value).index }),
    ...(diagonal && { diagonal }),
    ...(maskMod && { maskMod }),
    fills,
    scaledAfterMask,
  };
}

function visibleMask(lowering: MatchLowering, condition: Value, layout: HeadLayout, keeps: boolean): Value {
  const { builder } = lowering;
  const mask = asHeads(builder, condition, layout, 'broadcast');
  if (keeps) return mask;
  const visible = builder.temporary(mask.desc.shape, 'bool');
  builder.map(not(input(0, 'bool')), [mask], visible);
  return visible;
}

function bothMasks({ builder }: MatchLowering, a: Value, b: Value): Value {
  const shape = broadcastShapes('mask', a.desc.shape, b.desc.shape) ?? [];
  const both = builder.temporary(shape, 'bool');
  builder.map(and(input(0, 'bool'), input(1, 'bool')), [a, b], both);
  return both;
}

/** GreaterEqual(query index [+ scalar]* [− scalar]*, key index): the causal mask with a shifted diagonal. */
function diagonalOf(condition: number, { scores }: HeadLayout, lowering: MatchLowering): StepDiagonal | null {
  const { producers } = lowering.topology;
  const compare = producers.get(condition);
  if (compare?.kind !== 'GreaterEqual') return null;
  const axisAt = (tensor: number): number | null => {
    const node = producers.get(tensor);
    return node?.kind === 'GenIndex' ? indexAxis(node, lowering.desc(tensor).shape, scores) : null;
  };
  if (axisAt(compare.inputs[1].id) !== -1) return null;
  const offset: StepDiagonal['offset'][number][] = [];
  let row = compare.inputs[0].id;
  for (;;) {
    const node: GraphNode | undefined = producers.get(row);
    if (node?.kind === 'GenIndex') return axisAt(row) === -2 ? { offset } : null;
    if (node?.kind !== 'Add' && node?.kind !== 'Subtract') return null;
    const at = producers.has(node.inputs[0].id) ? 0 : 1;
    if (node.kind === 'Subtract' && at === 1) return null;
    const other = node.inputs[1 - at].id;
    const source = producers.get(other);
    if (source && source.kind !== 'Constant') return null;
    const value = lowering.value(other);
    if (!isScalar(value.desc.shape)) return null;
    offset.push({ value: value.index, negative: node.kind === 'Subtract' });
    row = node.inputs[at].id;
  }
}

import { sameShape } from '@tilewise/core';
import { type Expr, score, toF32 } from '@tilewise/core/expr';
import type { StepOptions } from '../../ir/program/attention-step.ts';
import { exprCost, MAX_EVALUATED } from '../../ir/program/expr.ts';
import type { Link, ScoreChain } from '../../passes/attention/score-chain.ts';
import type { HeadLayout } from './heads.ts';
import type { MatchLowering } from './match-lowering.ts';
import { OperandReader } from './operand-reader.ts';
import { scoreOptions } from './score-options.ts';

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

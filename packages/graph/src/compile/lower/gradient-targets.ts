import { elementCount } from '@tilewise/core';
import type { Value } from '../../ir/program/lowering.ts';
import { numbersOf } from '../../ir/schema/attribute.ts';
import { reduceAxes } from '../../ops/reduction/reduce.ts';
import type { GradientMatMul } from '../../passes/attention/backward-products.ts';
import { resultView } from './heads.ts';
import type { MatchLowering } from './match-lowering.ts';

/** Whether the sum after a product is over the query heads that share one head of the operand. */
export function sumsGroups(
  gradient: GradientMatMul | null,
  operand: number,
  lowering: MatchLowering,
): boolean {
  if (!gradient?.reduce) return true;
  const { shape } = lowering.value(operand).desc;
  const product = lowering.desc(gradient.matmul.outputs[0].id).shape;
  const axes = reduceAxes(numbersOf(gradient.reduce.attributes, 'axes'), product);
  const lead = product.length - shape.length;
  return product.every((n, d) => {
    // Neither of the last two dimensions, which may be swapped, is summed.
    if (d >= product.length - 2) return !axes.includes(d);
    const own = d < lead ? 1 : shape[d - lead];
    return axes.includes(d) ? own === 1 : own === n;
  });
}

/**
 * The value that a gradient is written to: empty if the gradient is not requested; null if the graph's
 * gradient has another size.
 */
export function targetOf(
  gradient: GradientMatMul | null,
  operand: Value,
  lowering: MatchLowering,
): { readonly to: Value | null; finish(): void } | null {
  if (gradient === null) return { to: null, finish: () => {} };
  const stored = lowering.result(gradient.result);
  const result = gradient.transposed ? lowering.builder.transposed(stored) : stored;
  if (elementCount(result.desc.shape) !== elementCount(operand.desc.shape)) return null;
  return resultView(lowering.builder, result, operand.desc.shape);
}

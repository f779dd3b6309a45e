import { input } from '@tilewise/core/primitive';
import { exprType } from '../../ir/program/expr.ts';
import type { OperationRules } from '../../ir/schema/define.ts';
import type { OperationCall } from '../../ir/schema/operation.ts';
import type { OperationSchema } from '../../ir/schema/schema.ts';
import type { LogicalShape } from '../../ir/tensor/logical-tensor.ts';
import { agree, broadcastShapes, refuse } from '../../ir/tensor/shape.ts';

/**
 * The rules of an operation that computes every element independently; its shapes and primitives are derived
 * from `element`.
 */
export function elementwise<S extends OperationSchema>(
  rules: Omit<OperationRules<S>, 'infer' | 'lower'> & Required<Pick<OperationRules<S>, 'element'>>,
): OperationRules<S> {
  return {
    ...rules,
    infer: call => [inferBroadcast(call)],
    lower: ({ map, inputs, outputs }, { attributes }) => {
      const elements = inputs.map((value, n) => input(n, exprType(value.desc.dtype)));
      map(rules.element(elements, attributes), inputs, outputs[0]);
    },
  };
}

/** The attribute of binary operations that says whether shapes may differ. */
export const autoBroadcast = {
  auto_broadcast: { type: 'string', default: 'numpy', among: ['none', 'numpy'] },
} as const;

function inferBroadcast({
  attributes,
  inputs,
}: OperationCall<{ readonly auto_broadcast?: unknown }>): LogicalShape {
  const shapes = inputs.map(t => t.shape);
  const [first, ...others] = shapes;
  const differs = others.some(shape => shape && first && !agree(shape, first));
  if (attributes.auto_broadcast === 'none' && differs) {
    const list = shapes.map(shape => `[${shape}]`).join(' and ');
    refuse(`without auto_broadcast needs equal shapes, got ${list}`);
  }
  return broadcastShapes(...shapes);
}

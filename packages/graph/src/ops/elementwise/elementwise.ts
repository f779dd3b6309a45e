import { InvalidShapeError } from '@tilewise/core';
import { input } from '@tilewise/core/primitive';
import { exprType } from '../../ir/program/expr-type.ts';
import type { Lowering } from '../../ir/program/lowering.ts';
import type { OperationCall } from '../../ir/schema/attribute.ts';
import type { Operation } from '../../ir/schema/operation.ts';
import type { LogicalShape } from '../../ir/tensor/logical-tensor.ts';
import { broadcastShapes } from '../../ir/tensor/shape.ts';

/** An operation that computes every element by itself: it is its schema and the expression of an element. */
export function elementwise(
  definition: Omit<Operation, 'infer' | 'lower'> & Required<Pick<Operation, 'element'>>,
): Operation {
  return {
    ...definition,
    infer: call => [inferBroadcast(definition.kind, call)],
    lower: lowering => lowerElement(definition.element, lowering),
  };
}

/** The attribute of binary operations that says whether shapes may differ. */
export const autoBroadcast: Operation['attributes'] = {
  auto_broadcast: { type: 'string', default: 'numpy', among: ['none', 'numpy'] },
};

function inferBroadcast(kind: string, { attributes, inputs }: OperationCall): LogicalShape {
  const shapes = inputs.map(t => t.shape);
  if (attributes.auto_broadcast === 'none') {
    const [first, ...others] = shapes;
    const differs = others.some(shape => shape && first && `${shape}` !== `${first}`);
    if (differs) {
      throw new InvalidShapeError(
        kind,
        `without auto_broadcast needs equal shapes, got ${shapes.map(shape => `[${shape}]`).join(' and ')}`,
      );
    }
  }
  return broadcastShapes(kind, ...shapes);
}

function lowerElement(element: NonNullable<Operation['element']>, lowering: Lowering): void {
  const { call, inputs, outputs } = lowering;
  const elements = inputs.map((value, n) => input(n, exprType(value.desc.dtype)));
  lowering.map(element(elements, call.attributes), inputs, outputs[0]);
}

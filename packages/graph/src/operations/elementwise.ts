import { InvalidShapeError } from '@tilewise/core';
import { input } from '@tilewise/core/primitive';
import { exprType } from '../lowering/expr-type.ts';
import type { Lowering } from '../lowering/lowering.ts';
import type { Operation, OperationCall } from '../schema/operation.ts';
import { broadcastShapes } from '../shape/broadcast.ts';
import type { LogicalShape } from '../tensor/logical-tensor.ts';

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

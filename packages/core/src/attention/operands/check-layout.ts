import { InvalidArgumentError, InvalidDTypeError } from '../../errors.ts';
import { checkShape } from '../../tensor/checks/check-tensor.ts';
import { dtypeText } from '../../tensor/checks/dtype-text.ts';
import type { TensorDesc } from '../../tensor/tensor-desc.ts';
import type { OperandLayout } from './operand.ts';

/**
 * Checks a tensor against the layout of an operand.
 * @throws InvalidDTypeError, InvalidShapeError or InvalidArgumentError for another dtype, shape or strides.
 */
export function checkLayout(
  argument: string,
  { dtype, shape: given, strides: steps }: TensorDesc,
  { dtypes, shape, strides }: Pick<OperandLayout, 'dtypes' | 'shape' | 'strides'>,
): void {
  if (!dtypes.includes(dtype)) throw new InvalidDTypeError(argument, dtypeText(dtypes, dtype));
  checkShape(argument, given, shape);
  if (shape.some((n, d) => n > 1 && steps[d] !== strides[d]))
    throw new InvalidArgumentError(argument, `must have strides [${strides}], got [${steps}]`);
}

import { required } from '../../attention/host/required.ts';
import { checkLayout } from '../../attention/operands/check-layout.ts';
import { mxfp8OperandTable } from '../../attention/operands/fp8-table.ts';
import type { OperandLayout } from '../../attention/operands/operand.ts';
import { operandLayouts, operandTable } from '../../attention/operands/table.ts';
import { fp8AmaxNames, fp8ScalarNames } from '../../attention/problem/fp8.ts';
import type { AttentionProblem, BackwardProblem, GradientName } from '../../attention/problem/problem.ts';
import { contiguousStrides } from '../../tensor/shape.ts';
import type { Tensor } from '../../tensor/tensor.ts';

/** Checks the tensors of a run by name. */
type CheckTensors = (tensors: Readonly<Record<string, Tensor | undefined>>) => void;

/** The list of the FP8 contract: its scalars, and then the largest magnitudes. */
const fp8Shape = [fp8ScalarNames.length + fp8AmaxNames.length];
const fp8List: OperandLayout = {
  ...{ dtypes: ['f32'], shape: fp8Shape, strides: contiguousStrides(fp8Shape), footprint: null },
};

/**
 * Makes a function that checks that the tensors of a run are those of a problem: the passes compute addresses
 * from the layouts that the problem describes.
 * @throws InvalidArgumentError, InvalidShapeError or InvalidDTypeError naming the first tensor that is
 * missing or does not have its layout.
 */
export function createCheckTensors(problem: AttentionProblem | BackwardProblem): CheckTensors {
  const [forward, gradients] = 'forward' in problem ? [problem.forward, problem.gradients] : [problem, null];
  const all = operandLayouts(problem, { ...operandTable, ...mxfp8OperandTable });
  const layouts = Object.entries(all).filter(([name]) => {
    const isResult = gradients !== null && operandTable[name as GradientName]?.backward === 'write';
    return !name.startsWith('amax') && (!isResult || gradients.includes(name as GradientName));
  });
  if (forward.fp8?.kind === 'scaled') layouts.push(['fp8', fp8List]);
  return tensors => {
    for (const [name, layout] of layouts) checkLayout(name, required(name, tensors[name]), layout);
  };
}

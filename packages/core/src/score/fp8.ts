import { required } from '../attention/host/required.ts';
import { type Fp8ScalarName, formatPRange, fp8ScalarNames } from '../attention/problem/fp8.ts';
import type { AttentionProblem, Operands } from '../attention/problem/problem.ts';
import { rounder } from '../tensor/dtype/convert.ts';
import { roundHalfEven } from '../tensor/dtype/round.ts';
import type { Tensor } from '../tensor/tensor.ts';

/** A pass of attention. Each pass rounds P with its own scale. */
export type Pass = 'forward' | 'backward';

/** The scale of P if operands have block scales. */
const blockScaleS: Readonly<Record<Pass, number>> = { forward: 16, backward: 256 };

/** The scalars of FP8 arithmetic as numbers, and the rounding of P and dS. */
export interface Fp8Arithmetic extends Readonly<Record<Fp8ScalarName, number>> {
  /** Rounds to the nearest value of q's format (or that of `formatP`), ties to even, saturating. */
  round(x: number): number;
}

/**
 * The FP8 arithmetic of a problem on the host. Without the contract all scales are 1 and nothing is rounded,
 * so that the same formula serves both cases.
 * @throws InvalidArgumentError if the problem has scalars but the operands lack them.
 */
export function createFp8(
  { fp8, q }: AttentionProblem,
  operands: Pick<Operands<Tensor>, 'fp8'>,
  pass: Pass = 'forward',
): Fp8Arithmetic {
  if (fp8 === null) return { ...scalars(() => 1), round: x => x };
  if (fp8.kind !== 'scaled') {
    const scaleS = blockScaleS[pass];
    const round = rounder(fp8.kind === 'blocks' ? q.dtype : fp8.dtype);
    return { ...scalars(() => 1), scaleS, descaleS: 1 / scaleS, round };
  }
  const given = required('fp8', operands.fp8);
  const values = scalars(name => given[name].toFloat64()[0]);
  const { dtype, zeroPoint = 0 } = fp8.formatP ?? { dtype: q.dtype };
  const range = fp8.formatP && formatPRange[fp8.formatP.dtype];
  if (!range) return { ...values, round: rounder(dtype) };
  const [least, largest] = range;
  const round = (x: number): number =>
    Math.min(Math.max(roundHalfEven(x + zeroPoint), least), largest) - zeroPoint;
  return { ...values, round };
}

function scalars(value: (name: Fp8ScalarName) => number): Record<Fp8ScalarName, number> {
  return Object.fromEntries(fp8ScalarNames.map(name => [name, value(name)])) as Record<Fp8ScalarName, number>;
}

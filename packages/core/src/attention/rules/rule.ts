import { InvalidArgumentError, InvalidDTypeError, InvalidShapeError } from '../../errors.ts';
import { dtypeText } from '../../tensor/checks/dtype-text.ts';
import type { DType } from '../../tensor/dtype/dtype-traits.ts';
import type { OperandName } from '../operands/operand.ts';
import { operandTable } from '../operands/table.ts';

/** Which error a broken rule throws. */
export type RuleKind = 'argument' | 'shape' | 'dtype';

/** A rule of the attention problem. `broken` says what is wrong, or returns null if the rule holds. */
export interface Rule<P> {
  /** The argument that the error names, such as `dropout.p`. */
  readonly argument: string;
  /** Which error a broken rule throws. */
  readonly kind: RuleKind;
  /** What is wrong with a problem, such as `must be at least 1, got 0`; null if the rule holds. */
  readonly broken: (problem: P) => string | null;
}

const errors = { argument: InvalidArgumentError, shape: InvalidShapeError, dtype: InvalidDTypeError };

/** Throws the error of the first rule that does not hold. */
export function checkRules<P>(rules: readonly Rule<P>[], problem: P): void {
  for (const { argument, kind, broken } of rules) {
    const wrong = broken(problem);
    if (wrong !== null) throw new errors[kind](argument, wrong);
  }
}

/** The message `wrong` if a condition does not hold, else null. */
export function unless(holds: boolean, wrong: string): string | null {
  return holds ? null : wrong;
}

/** A rule whose error is an InvalidArgumentError. */
export function argumentRule<P>(argument: string, broken: Rule<P>['broken']): Rule<P> {
  return { argument, kind: 'argument', broken };
}

/** A rule whose error is an InvalidShapeError. */
export function shapeRule<P>(argument: string, broken: Rule<P>['broken']): Rule<P> {
  return { argument, kind: 'shape', broken };
}

/**
 * The rule that an operand, if the problem has it, has a dtype that the operand table allows.
 * @param hint the end of the error.
 */
export function dtypeRule<P>(
  argument: string,
  operand: OperandName,
  dtypeOf: (problem: P) => DType | undefined,
  hint = '',
): Rule<P> {
  const { dtypes = [] } = operandTable[operand];
  return {
    argument,
    kind: 'dtype',
    broken: problem => {
      const dtype = dtypeOf(problem);
      return dtype === undefined || dtypes.includes(dtype) ? null : dtypeText(dtypes, dtype) + hint;
    },
  };
}

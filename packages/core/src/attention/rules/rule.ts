import { InvalidArgumentError, InvalidDTypeError, InvalidShapeError } from '../../errors.ts';
import { type DType, dtypeTraits, isDType } from '../../tensor/dtype-traits.ts';

/** Which error a broken rule becomes. */
export type RuleKind = 'argument' | 'shape' | 'dtype';

/** A rule of the attention problem. `broken` says what is wrong, or gives null when the rule holds. */
export interface Rule<P> {
  readonly argument: string;
  readonly kind: RuleKind;
  readonly broken: (problem: P) => string | null;
}

const errors = { argument: InvalidArgumentError, shape: InvalidShapeError, dtype: InvalidDTypeError };

/** Throws for the first rule that does not hold. */
export function checkRules<P>(rules: readonly Rule<P>[], problem: P): void {
  for (const { argument, kind, broken } of rules) {
    const wrong = broken(problem);
    if (wrong !== null) throw new errors[kind](argument, wrong);
  }
}

const isFloat = (dtype: DType): boolean => isDType(dtype) && dtypeTraits[dtype].kind === 'float';
const isMask = (dtype: DType): boolean => dtype === 'bool' || dtype === 'u8';

/** The rule that an operand, where there is one, holds floats. */
export function floatRule<P>(argument: string, dtypeOf: (problem: P) => DType | undefined): Rule<P> {
  return dtypeRule(argument, dtypeOf, isFloat, 'a float dtype');
}

/** The rule that an operand, where there is one, holds truth values. */
export function maskRule<P>(argument: string, dtypeOf: (problem: P) => DType | undefined): Rule<P> {
  return dtypeRule(argument, dtypeOf, isMask, 'bool (or u8)');
}

function dtypeRule<P>(
  argument: string,
  dtypeOf: (problem: P) => DType | undefined,
  admits: (dtype: DType) => boolean,
  expected: string,
): Rule<P> {
  return {
    argument,
    kind: 'dtype',
    broken: problem => {
      const dtype = dtypeOf(problem);
      return dtype === undefined || admits(dtype) ? null : `must be ${expected}, got ${dtype}`;
    },
  };
}

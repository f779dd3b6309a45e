import { InvalidArgumentError } from '@tilewise/core';
import type { Attributes } from '../../ir/schema/attribute.ts';
import type { GraphDType } from '../../ir/tensor/dtype.ts';
import { type Operand, type Trace, Variable } from './trace.ts';

/** Attributes by camelCase names, and the dtype of the result if it does not follow from the operands. */
export type CallOptions = { readonly dtype?: GraphDType | undefined } & {
  readonly [name: string]: boolean | number | string | readonly number[] | undefined;
};

/**
 * The trace of the function that is being traced. A module traces one function at a time, because traced
 * functions are synchronous.
 */
let current: Trace | undefined;

/** Runs a function whose operations are added to a trace. */
export function tracing<R>(trace: Trace, work: () => R): R {
  const before = current;
  current = trace;
  try {
    return work();
  } finally {
    current = before;
  }
}

/** The trace that an operation is added to: that of an operand, else the current one. */
export function traceOf(kind: string, operands: readonly Operand[]): Trace {
  for (const operand of operands) if (operand instanceof Variable) return operand.trace;
  if (current) return current;
  throw new InvalidArgumentError(
    kind,
    'can only be called in a traced function: use compile(engine, fn, specs)',
  );
}

/**
 * Adds an operation on operands, with attributes by camelCase names.
 * @param results the number of results, or their dtypes, if these do not follow from the operands.
 */
export function call(
  kind: string,
  operands: readonly Operand[],
  { dtype, ...options }: CallOptions = {},
  results?: number | readonly GraphDType[],
): readonly Variable[] {
  const attrs: Record<string, Attributes[string]> = {};
  for (const [name, value] of Object.entries(options)) {
    if (value !== undefined) attrs[name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)] = value;
  }
  return traceOf(kind, operands).apply(kind, operands, attrs, results, dtype);
}

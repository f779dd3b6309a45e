import { InvalidArgumentError } from '@tilewise/core';
import type { Attributes } from '../../ir/schema/attribute.ts';
import type { GraphDType } from '../../ir/tensor/dtype.ts';
import { type Operand, type Trace, Variable } from './trace.ts';

/**
 * Attributes by names in camelCase, and the dtype of the result where it does not follow from the operands.
 */
export type CallOptions = { readonly dtype?: GraphDType | undefined } & {
  readonly [name: string]: boolean | number | string | readonly number[] | undefined;
};

/** The function that is traced at the moment. A module can trace one at a time: functions do not wait. */
let current: Trace | undefined;

/** Runs a function whose operations write into a graph. */
export function tracing<R>(trace: Trace, work: () => R): R {
  const before = current;
  current = trace;
  try {
    return work();
  } finally {
    current = before;
  }
}

/** The graph that operations write into: that of an operand, else the one that is traced. */
export function traceOf(kind: string, operands: readonly Operand[]): Trace {
  for (const operand of operands) if (operand instanceof Variable) return operand.trace;
  if (current) return current;
  throw new InvalidArgumentError(kind, 'is for functions that are compiled: compile(engine, fn, specs)');
}

/** An operation on operands, with attributes by names in camelCase. */
export function call(
  kind: string,
  operands: readonly Operand[],
  { dtype, ...options }: CallOptions = {},
  outputs?: number,
): readonly Variable[] {
  const attrs: Record<string, Attributes[string]> = {};
  for (const [name, value] of Object.entries(options)) {
    if (value !== undefined) attrs[name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)] = value;
  }
  return traceOf(kind, operands).apply(kind, operands, attrs, { dtype, outputs });
}

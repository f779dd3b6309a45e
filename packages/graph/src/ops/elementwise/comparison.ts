import { and, eq, ge, gt, le, lt, ne, not, or } from '@tilewise/core/expr';
import { defineOperations } from '../../ir/schema/define.ts';
import type { Operation } from '../../ir/schema/operation.ts';
import { autoBroadcast, elementwise } from './elementwise.ts';
import { numeric, truth } from './numeric.ts';

const comparison = {
  inputs: 'src_0:T1=numbers|u32 src_1:T1=numbers|u32',
  outputs: 'dst:T2=bool',
  attributes: autoBroadcast as typeof autoBroadcast,
} as const;
const logic = {
  inputs: 'src_0:T=bool src_1:T=bool',
  outputs: 'dst:T=bool',
  attributes: autoBroadcast as typeof autoBroadcast,
} as const;

export const comparisonSchemas = {
  Greater: comparison as typeof comparison,
  GreaterEqual: comparison as typeof comparison,
  Less: comparison as typeof comparison,
  LessEqual: comparison as typeof comparison,
  Equal: comparison as typeof comparison,
  NotEqual: comparison as typeof comparison,
  LogicalAnd: logic as typeof logic,
  LogicalOr: logic as typeof logic,
  LogicalNot: { inputs: 'src:T=bool', outputs: 'dst:T=bool', attributes: {} },
} as const;

const compares = (of: typeof lt) =>
  elementwise<typeof comparison>({
    gradient: 'zero',
    element: ([a, b]) => of(numeric(a), numeric(b)),
  });

const joins = (of: typeof and) =>
  elementwise<typeof logic>({
    gradient: 'zero',
    element: ([a, b]) => of(truth(a), truth(b)),
  });

/** Comparisons of numbers, and logical operations. */
export const comparisonOperations: readonly Operation[] = defineOperations(comparisonSchemas, {
  /** True where src_0 > src_1. Not an operation of oneDNN. */
  Greater: compares(gt),
  /** True where src_0 ≥ src_1. */
  GreaterEqual: compares(ge),
  /** True where src_0 < src_1. Not an operation of oneDNN. */
  Less: compares(lt),
  /** True where src_0 ≤ src_1. Not an operation of oneDNN. */
  LessEqual: compares(le),
  /** True where src_0 = src_1. Not an operation of oneDNN. */
  Equal: compares(eq),
  /** True where src_0 ≠ src_1. Not an operation of oneDNN. */
  NotEqual: compares(ne),
  /** True where src_0 and src_1 are both true. Not an operation of oneDNN. */
  LogicalAnd: joins(and),
  /** True where at least one of src_0 and src_1 is true. Not an operation of oneDNN. */
  LogicalOr: joins(or),
  /** True where src is false. Not an operation of oneDNN. */
  LogicalNot: elementwise({
    gradient: 'zero',
    element: ([a]) => not(truth(a)),
  }),
});

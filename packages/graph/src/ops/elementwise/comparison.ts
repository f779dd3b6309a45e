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

const compares = (kind: string, summary: string, of: typeof lt) =>
  elementwise<typeof comparison>(kind, {
    summary,
    gradient: 'zero',
    element: ([a, b]) => of(numeric(a), numeric(b)),
  });

const joins = (kind: string, which: string, of: typeof and) =>
  elementwise<typeof logic>(kind, {
    summary: `Whether ${which}. Not an operation of oneDNN.`,
    gradient: 'zero',
    element: ([a, b]) => of(truth(a), truth(b)),
  });

/** Comparisons of numbers, and logical operations. */
export const comparisonOperations: readonly Operation[] = defineOperations(comparisonSchemas, {
  Greater: compares('Greater', 'Whether src_0 > src_1. Not an operation of oneDNN.', gt),
  GreaterEqual: compares('GreaterEqual', 'Whether src_0 ≥ src_1.', ge),
  Less: compares('Less', 'Whether src_0 < src_1. Not an operation of oneDNN.', lt),
  LessEqual: compares('LessEqual', 'Whether src_0 ≤ src_1. Not an operation of oneDNN.', le),
  Equal: compares('Equal', 'Whether src_0 = src_1. Not an operation of oneDNN.', eq),
  NotEqual: compares('NotEqual', 'Whether src_0 ≠ src_1. Not an operation of oneDNN.', ne),
  LogicalAnd: joins('LogicalAnd', 'src_0 and src_1 are both true', and),
  LogicalOr: joins('LogicalOr', 'at least one of src_0 and src_1 is true', or),
  LogicalNot: elementwise('LogicalNot', {
    summary: 'Whether src is false. Not an operation of oneDNN.',
    gradient: 'zero',
    element: ([a]) => not(truth(a)),
  }),
});

import { and, eq, gt, le, lt, ne, not, or } from '@tilewise/core/expr';
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
  Less: comparison as typeof comparison,
  LessEqual: comparison as typeof comparison,
  Equal: comparison as typeof comparison,
  NotEqual: comparison as typeof comparison,
  LogicalAnd: logic as typeof logic,
  LogicalOr: logic as typeof logic,
  LogicalNot: { inputs: 'src:T=bool', outputs: 'dst:T=bool', attributes: {} },
} as const;

const compares = (kind: string, sign: string, of: typeof lt) =>
  elementwise<typeof comparison>(kind, {
    summary: `Whether src_0 ${sign} src_1. Not an operation of oneDNN.`,
    gradient: 'zero',
    element: ([a, b]) => of(numeric(a), numeric(b)),
  });

/** Truth values of numbers, and of truth values. */
export const comparisonOperations: readonly Operation[] = defineOperations(comparisonSchemas, {
  Greater: compares('Greater', '>', gt),
  Less: compares('Less', '<', lt),
  LessEqual: compares('LessEqual', '≤', le),
  Equal: compares('Equal', '=', eq),
  NotEqual: compares('NotEqual', '≠', ne),
  LogicalAnd: elementwise('LogicalAnd', {
    summary: 'Whether both hold. Not an operation of oneDNN.',
    gradient: 'zero',
    element: ([a, b]) => and(truth(a), truth(b)),
  }),
  LogicalOr: elementwise('LogicalOr', {
    summary: 'Whether one of two holds. Not an operation of oneDNN.',
    gradient: 'zero',
    element: ([a, b]) => or(truth(a), truth(b)),
  }),
  LogicalNot: elementwise('LogicalNot', {
    summary: 'Whether src does not hold. Not an operation of oneDNN.',
    gradient: 'zero',
    element: ([a]) => not(truth(a)),
  }),
});

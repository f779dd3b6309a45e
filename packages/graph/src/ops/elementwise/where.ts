import { select } from '@tilewise/core/expr';
import { defineOperations } from '../../ir/schema/define.ts';
import type { Operation } from '../../ir/schema/operation.ts';
import { elementwise } from './elementwise.ts';
import { truth } from './numeric.ts';
import { gradientOfChoice } from './select.ts';

export const whereSchemas = {
  Where: {
    inputs: 'cond:T1=bool src_0:T2=numbers|u32|bool src_1:T2=numbers|u32|bool',
    outputs: 'dst:T2=numbers|u32|bool',
    attributes: {},
  },
} as const;

/** A choice of elements, as NumPy has it. */
export const whereOperations: readonly Operation[] = defineOperations(whereSchemas, {
  Where: elementwise('Where', {
    summary:
      'src_0 where cond holds, else src_1, all three broadcast to each other. Not an operation of oneDNN.',
    element: ([cond, a, b]) => select(truth(cond), a, b),
    gradient: gradientOfChoice,
  }),
});

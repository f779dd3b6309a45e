import { defineOperations } from '../../ir/schema/define.ts';
import type { Operation } from '../../ir/schema/operation.ts';

export const structureSchemas = {
  End: { inputs: 'src:T=any', outputs: '', attributes: {} },
  Wildcard: { inputs: '...src:=any', outputs: '...dst:=any', attributes: {} },
} as const;

/** Operations that compute nothing. */
export const structureOperations: readonly Operation[] = defineOperations(structureSchemas, {
  /** Marks a tensor as a result even if other operations read it. */
  End: {
    infer: () => [],
  },
  /** Stands for a framework operation that this library does not know; a Wildcard cannot run. */
  Wildcard: {
    infer: ({ outputs }) => outputs.map(t => t.shape),
  },
});

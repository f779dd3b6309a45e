import { defineOperations } from '../../ir/schema/define.ts';
import type { Operation } from '../../ir/schema/operation.ts';

export const structureSchemas = {
  End: { inputs: 'src:T=any', outputs: '', attributes: {} },
  Wildcard: { inputs: '...src:T=any', outputs: '...dst:U=any', attributes: {} },
} as const;

/** Operations that compute nothing. */
export const structureOperations: readonly Operation[] = defineOperations(structureSchemas, {
  End: {
    infer: () => [],
  },
  Wildcard: {
    infer: ({ outputs }) => outputs.map(t => t.shape),
  },
});

import type { OperandName } from '../draft.ts';
import { option, type RandomOption } from '../option.ts';
import type { DataType } from '../storage.ts';

/** In which dtype q, k, v and dO are stored. */
export const storageDType: RandomOption = option<DataType>({
  name: 'dtype',
  kind: 'structure',
  values: ['f32', 'f16', 'bf16', 'f8e4m3', 'f8e5m2'],
  size(draft, dtype) {
    for (const name of ['q', 'k', 'v', 'dO'] satisfies OperandName[]) draft.dtype[name] = dtype;
  },
});

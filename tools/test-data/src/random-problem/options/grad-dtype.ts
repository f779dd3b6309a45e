import { option, type RandomOption } from '../option.ts';
import type { DataType } from '../storage.ts';

/** In which dtype dq, dk and dv are stored. */
export const gradDType: RandomOption = option<DataType | null>({
  name: 'gradDType',
  kind: 'structure',
  values: [null, 'f32', 'bf16'],
  add(draft, dtype) {
    if (dtype) draft.options.gradDType = dtype;
  },
});

import { option, type RandomOption } from '../option.ts';
import type { DataType } from '../storage.ts';

/** In which dtype o is stored, and with it its gradient. */
export const outDType: RandomOption = option<DataType | null>({
  name: 'outDType',
  kind: 'structure',
  values: [null, 'f32', 'f16', 'f8e4m3'],
  size(draft, dtype) {
    if (dtype) draft.dtype.dO = dtype;
  },
  add(draft, dtype) {
    if (dtype) draft.options.outDType = dtype;
  },
});

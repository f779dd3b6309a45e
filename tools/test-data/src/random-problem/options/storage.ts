import type { DataType } from '../data/storage.ts';
import type { OperandName } from '../draft.ts';
import { option, type RandomOption } from './option.ts';

/** The storage dtype of q, k, v and dO. */
export const storageDType: RandomOption = option<DataType>({
  name: 'dtype',
  kind: 'structure',
  values: ['f32', 'f16', 'bf16', 'f8e4m3', 'f8e5m2'],
  size(draft, dtype) {
    for (const name of ['q', 'k', 'v', 'dO'] satisfies OperandName[]) draft.dtype[name] = dtype;
  },
});

/** The storage dtype of o, and of its gradient. */
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

/** The storage dtype of dq, dk and dv. */
export const gradDType: RandomOption = option<DataType | null>({
  name: 'gradDType',
  kind: 'structure',
  values: [null, 'f32', 'bf16'],
  add(draft, dtype) {
    if (dtype) draft.options.gradDType = dtype;
  },
});

/** The memory layout of q, k, v and dO; see `operands.ts`, which applies it. */
export type LayoutName =
  | 'whole'
  | 'tokens first'
  | 'gaps of 4'
  | 'gaps of 1'
  | 'every other channel'
  | 'shared heads'
  | 'mixed';

export const layout: RandomOption = option<LayoutName>({
  name: 'layout',
  kind: 'structure',
  values: ['whole', 'tokens first', 'gaps of 4', 'gaps of 1', 'every other channel', 'shared heads', 'mixed'],
});

/** The value at offsets that must not be read: between rows, after sequences, after packed tokens. */
export const garbage: RandomOption = option({
  name: 'garbage',
  kind: 'number',
  values: ['zeros', 'NaN', 'infinity'],
  size(draft, value) {
    draft.garbage = value === 'NaN' ? NaN : value === 'infinity' ? -Infinity : 0;
  },
});

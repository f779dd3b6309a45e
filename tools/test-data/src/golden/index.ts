// What golden cases are, without the folders that they lie in: for pages too.
export type { ErrorSize, StorageDType } from './gate.ts';
export { errorOf, gate } from './gate.ts';
export type { GoldenCall, GoldenOptions, MakeTensor } from './golden-call.ts';
export { goldenCall } from './golden-call.ts';
export type { GoldenCase } from './parse-golden.ts';
export { parseGolden } from './parse-golden.ts';

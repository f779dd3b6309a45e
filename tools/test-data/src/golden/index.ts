// Golden cases without the folders that contain them, so that pages can import this, too.
export type { ErrorSize, StorageDType } from './gate.ts';
export { errorOf, gate } from './gate.ts';
export type { GoldenCall, GoldenOptions, MakeTensor } from './golden-call.ts';
export { goldenCall } from './golden-call.ts';
export type { GoldenCase } from './parse-golden.ts';
export { parseGolden } from './parse-golden.ts';

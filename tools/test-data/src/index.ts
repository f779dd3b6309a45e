export { fixturesDir, sharedDir } from './data-folders.ts';
export type { ErrorSize, StorageDType } from './gate.ts';
export { errorOf, gate, referenceGate } from './gate.ts';
export type { GoldenCall, GoldenOptions, MakeTensor } from './golden-call.ts';
export { goldenCall } from './golden-call.ts';
export type { GoldenCase, GoldenParams, RefErr } from './golden-case.ts';
export { goldenCases, loadGolden } from './golden-case.ts';
export { loadPhilox } from './philox-vectors.ts';
export type { RawTensor } from './raw-tensor.ts';

export { allowedError, largestError } from './allowed-error.ts';
export type { Choice } from './draft.ts';
export type { DataType, StoredArray } from './operands/storage.ts';
export type { StridedData } from './operands/strided-data.ts';
export { randomOptions } from './options/index.ts';
export { type RandomCall, randomCall } from './random-call.ts';
export { describeProblem, type RandomProblem } from './random-problem.ts';
export { type RandomProblemOptions, type RandomProblems, randomProblems } from './random-problems.ts';
export { onlyProblem, rerunCommand, runSeed } from './seed.ts';

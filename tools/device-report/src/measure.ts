export {
  type ExaminationEvent,
  type ExaminationHost,
  type ExaminationStage,
  examineDevice,
} from './examine.ts';
export type { MatmulCandidate, PeakPrecision } from './peak/candidate.ts';
export { candidatesFor, matmulDevice } from './peak/candidates.ts';
export { copyBandwidth } from './peak/copy-bandwidth.ts';
export { MatmulBench, type ReadyMatmul } from './peak/matmul-bench.ts';
export {
  fittingPeakWork,
  measurePeak,
  type Peak,
  type PeakMatmul,
  type PeakWork,
  peakWork,
} from './peak/measure.ts';
export { normalInputs } from './timing/normal-inputs.ts';
export { type RoundsOptions, timeInTurn, timePasses } from './timing/rounds.ts';
export { summary, type Timing, type TimingOptions, time } from './timing/timing.ts';

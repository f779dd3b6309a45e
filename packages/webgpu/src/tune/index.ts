export type { TileRole } from '../attention/tiles/tile.ts';
export { tableTile, tileCandidates } from './candidates.ts';
export { type ClockKind, type Encode, type GpuClock, gpuClock, runsPerPass } from './gpu-clock.ts';
export type { TileTiming } from './tile-bench.ts';
export {
  describeTile,
  type TileDescription,
  type TileDescriptions,
  tilesFrom,
} from './tile-description.ts';
export { baselineTile, modelTile, type TileModel } from './tile-model.ts';
export { type OmittedTile, type TuneOptions, type Tuning, tune } from './tune.ts';

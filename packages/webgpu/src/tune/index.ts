export { tableTile, tileCandidates } from './candidates.ts';
export { type ClockKind, type Encode, type GpuClock, gpuClock, runsPerPass } from './gpu-clock.ts';
export type { TileTiming } from './tile-bench.ts';
export {
  type MatrixTileDescription,
  type TileDescription,
  type TileDescriptions,
  type TileRole,
  tilesFrom,
} from './tile-description.ts';
export { type OmittedTile, type TuneOptions, type Tuning, tune } from './tune.ts';

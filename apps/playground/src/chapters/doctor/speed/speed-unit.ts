/** A unit of speed, and how many of it are a TFLOP/s. */
export interface SpeedUnit {
  readonly name: string;
  readonly perTeraflops: number;
}

/** The unit in which speeds up to so many TFLOP/s are read best. */
export const speedUnit = (most: number): SpeedUnit =>
  most >= 0.5 ? { name: 'TFLOP/s', perTeraflops: 1 } : { name: 'GFLOP/s', perTeraflops: 1000 };

/** A unit of speed, and how many of that unit make a TFLOP/s. */
export interface SpeedUnit {
  readonly name: string;
  readonly perTeraflops: number;
}

/** The most readable unit for speeds up to the given number of TFLOP/s. */
export const speedUnit = (most: number): SpeedUnit =>
  most >= 0.5 ? { name: 'TFLOP/s', perTeraflops: 1 } : { name: 'GFLOP/s', perTeraflops: 1000 };

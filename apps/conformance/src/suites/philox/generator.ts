import type { DropoutSchemeName, DropoutShape } from '@tilewise/philox';

/** Which mask of which convention. */
export interface MaskRequest {
  readonly scheme: DropoutSchemeName;
  readonly shape: DropoutShape;
  readonly p: number;
  readonly seed: bigint;
  readonly offset: bigint;
}

/** A place in a stream: `block` counts 128-bit blocks from the start of the subsequence. */
export interface StreamRequest {
  readonly seed: bigint;
  readonly subsequence: bigint;
  readonly block: bigint;
  readonly rounds: number;
  readonly count: number;
}

/** The threshold and the factor of a scheme. */
export interface DropoutNumbers {
  readonly threshold: number;
  readonly scale: number;
}

/** Something that draws Philox numbers. The parts that not every generator has are optional. */
export interface Generator {
  /** Whether it is the TypeScript of `@tilewise/philox`, on which everything that only hosts need runs. */
  readonly isHost: boolean;
  block4x32(counter: readonly number[], key: readonly number[], rounds: number): Promise<number[]>;
  block2x32(counter: readonly number[], key: number, rounds: number): Promise<number[]>;
  stream(request: StreamRequest): Promise<number[]>;
  /** Row-major (B, H, Sq, Skv), 1 = keep. */
  mask(request: MaskRequest): Promise<Uint8Array>;
  dropoutNumbers(scheme: DropoutSchemeName, p: number): DropoutNumbers;
}

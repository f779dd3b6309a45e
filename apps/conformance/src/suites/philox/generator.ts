import type { DropoutSchemeName, DropoutShape } from '@tilewise/philox';

/** A mask of a convention. */
export interface MaskRequest {
  readonly scheme: DropoutSchemeName;
  readonly shape: DropoutShape;
  readonly p: number;
  readonly seed: bigint;
  readonly offset: bigint;
}

/** A position in a stream: `block` counts 128-bit blocks from the start of the subsequence. */
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

/** A generator of Philox numbers. The functions that not every generator has are optional. */
export interface Generator {
  /** Whether this is the TypeScript of `@tilewise/philox`, which runs everything that only hosts need. */
  readonly isHost: boolean;
  block4x32(counter: readonly number[], key: readonly number[], rounds: number): Promise<number[]>;
  block2x32(counter: readonly number[], key: number, rounds: number): Promise<number[]>;
  stream(request: StreamRequest): Promise<number[]>;
  /** Row-major (B, H, Sq, Skv), 1 = keep. */
  mask(request: MaskRequest): Promise<Uint8Array>;
  dropoutNumbers(scheme: DropoutSchemeName, p: number): DropoutNumbers;
}

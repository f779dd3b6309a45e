import { allocateMask } from '../dropout/allocate-mask.ts';
import { checkOptions, checkProbability, describeValue, InvalidArgumentError } from '../errors.ts';
import { fillU32 } from '../stream/fill.ts';
import type { Uint } from '../u64.ts';

/**
 * The keep mask (1 = keep) of TransformerEngine's 8-bit dropout: 16 elements share one block of the cuRAND
 * stream (seed, subsequence = their chunk), one byte each, in a shuffled order; keep is byte >= ⌊f32(p)·256⌋.
 *
 * `offset` counts 32-bit words. TransformerEngine packs the mask to bits, the lowest bit first. Source:
 * `transformer_engine/common/dropout/dropout.cu`.
 *
 * @throws InvalidArgumentError if `numel` is not a multiple of 16 or another option is out of range;
 * TilewiseError with code `OUT_OF_MEMORY`.
 */
export function transformerEngineDropoutMask(options: {
  readonly numel: number;
  readonly p: number;
  readonly seed: Uint;
  readonly offset?: Uint | undefined;
}): Uint8Array {
  checkOptions('options', options, ['numel', 'p', 'seed', 'offset']);
  const { numel, p, seed, offset } = options;
  if (!Number.isSafeInteger(numel) || numel < 0 || numel % 16 !== 0) {
    throw new InvalidArgumentError('numel', `must be a multiple of 16, got ${describeValue(numel)}`);
  }
  const threshold = Math.floor(Math.fround(checkProbability('p', p)) * 256);
  const mask = allocateMask(numel);
  const words = new Uint32Array(4);
  for (let chunk = 0; chunk < numel / 16; chunk++) {
    fillU32(words, { seed, subsequence: chunk, offset });
    for (let e = 0; e < 16; e++) {
      const byte = ((words[(e & 7) >> 1] ?? 0) >>> byteShift(e)) & 255;
      mask[16 * chunk + e] = byte >= threshold ? 1 : 0;
    }
  }
  return mask;
}

/** The lower eight elements use bytes 2 and 0 of each word in turn, the upper eight bytes 3 and 1. */
function byteShift(e: number): number {
  const byte = (e & 1) === 1 ? 0 : 2;
  return 8 * (e < 8 ? byte : byte + 1);
}

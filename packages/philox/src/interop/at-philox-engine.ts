import { checkOptions } from '../errors.ts';
import { PhiloxStream } from '../stream/stream.ts';
import type { StreamOptions } from '../stream/stream-address.ts';
import { toUint, type Uint } from '../u64.ts';

/**
 * PyTorch's C++ `at::philox_engine(seed, subsequence, offset)` as a stream: the same words in the same order.
 *
 * Its `offset` counts **128-bit blocks**, whereas the stream's positions count 32-bit words; `rounds` is the
 * number of rounds that the engine is called with, 10 by default. Source:
 * `aten/src/ATen/core/PhiloxRNGEngine.h`.
 *
 * @throws InvalidArgumentError if an argument is out of range.
 */
export function atPhiloxEngine(
  seed: Uint,
  options: Omit<StreamOptions, 'seed' | 'offset'> & { readonly offset?: Uint | undefined } = {},
): PhiloxStream {
  checkOptions('options', options, ['subsequence', 'offset', 'rounds']);
  const { offset = 0, ...rest } = options;
  const stream = new PhiloxStream(seed, rest);
  stream.seek(4n * toUint(offset, 'offset', 64));
  return stream;
}

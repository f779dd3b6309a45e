import { checkOptions } from '../errors.ts';
import { PhiloxStream } from '../stream/stream.ts';
import { toUint, type Uint } from '../u64.ts';

/**
 * PyTorch's C++ `at::philox_engine(seed, subsequence, offset)` as a stream: the same words in the same order.
 *
 * Its `offset` counts **128-bit blocks**, where the stream's positions count 32-bit words; `rounds` is what
 * the engine is called with, 10 by default. Source: `aten/src/ATen/core/PhiloxRNGEngine.h`.
 *
 * @throws InvalidArgumentError when an argument is out of its range.
 */
export function atPhiloxEngine(
  seed: Uint,
  options: {
    readonly subsequence?: Uint | undefined;
    readonly offset?: Uint | undefined;
    readonly rounds?: number | undefined;
  } = {},
): PhiloxStream {
  checkOptions('options', options, ['subsequence', 'offset', 'rounds']);
  const { offset = 0, ...rest } = options;
  const stream = new PhiloxStream(seed, rest);
  stream.seek(4n * toUint(offset, 'offset', 64));
  return stream;
}

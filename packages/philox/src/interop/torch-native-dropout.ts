import { philox4x32Into } from '../block/block4x32.ts';
import { allocateMask } from '../dropout/allocate-mask.ts';
import { checkOptions, checkProbability, describeValue, InvalidArgumentError } from '../errors.ts';
import { firstWordAtLeast } from '../stream/uniform.ts';
import { lowWords, toU64, toUint, type Uint } from '../u64.ts';

/**
 * A call of `torch.native_dropout` (`F.dropout`) on CUDA, with the launch geometry that its mask depends on.
 */
export interface NativeDropoutOptions {
  /** The number of elements, in storage order. */
  readonly numel: number;
  /** The probability to drop, in [0, 1]. At 0 and 1 PyTorch itself takes a shortcut and draws nothing. */
  readonly p: number;
  /** The seed of PyTorch's CUDA generator, 64-bit. */
  readonly seed: Uint;
  /** In 32-bit words; a multiple of 4, as in PyTorch. */
  readonly offset: Uint;
  /**
   * Elements per vectorised load, a divisor of `numel`: 4 for f32, 8 for f16 and bf16 in current releases,
   * which PyTorch halves until it divides `numel`.
   */
  readonly vec: 1 | 2 | 4 | 8 | 16;
  /**
   * The number of thread blocks of 256: min(⌈numel/256⌉, multiprocessors · ⌊threads per multiprocessor/256⌋).
   */
  readonly grid: number;
}

const optionNames = ['numel', 'p', 'seed', 'offset', 'vec', 'grid'];

/**
 * The keep mask (1 = keep) of PyTorch's CUDA dropout kernel.
 *
 * Thread t of G = 256·grid reads its own subsequence t. A vectorised kernel processes `vec` elements per
 * thread and turn, an unvectorised one strides by G; with vec = 2 the upper half of every block is unused.
 * keep is uniform < f32(1 − p), with 1 − p in double. Source: `aten/src/ATen/native/cuda/Dropout.cu`.
 *
 * @throws InvalidArgumentError if an option is out of range; TilewiseError with code `OUT_OF_MEMORY`.
 */
export function nativeDropoutMask(options: NativeDropoutOptions): Uint8Array<ArrayBuffer> {
  checkOptions('options', options, optionNames);
  const { numel, vec } = options;
  const [k0, k1] = toU64(options.seed, 'seed');
  const offset = toUint(options.offset, 'offset', 64);
  if (offset % 4n !== 0n) throw invalid('offset', 'a multiple of 4', options.offset);
  const [b0, b1] = lowWords(offset / 4n);
  const threads = 256 * checkGeometry(options);
  const end = firstWordAtLeast(1 - checkProbability('p', options.p));
  const blocksPerTurn = Math.ceil(vec / 4);
  const mask = allocateMask(numel);
  const words = new Uint32Array(4);
  for (let index = 0; index < numel; index++) {
    const chunk = Math.floor(index / vec);
    const thread = chunk % threads;
    const turn = Math.floor(chunk / threads);
    // With one element per turn a block lasts four turns; with more, each turn starts a new block.
    const block = vec === 1 ? turn >> 2 : turn * blocksPerTurn + ((index % vec) >> 2);
    const lane = vec === 1 ? turn & 3 : index % Math.min(vec, 4);
    const low = b0 + block;
    philox4x32Into(words, 0, low, b1 + Math.floor(low / 2 ** 32), thread, 0, k0, k1, 10);
    mask[index] = (words[lane] ?? 0) < end ? 1 : 0;
  }
  return mask;
}

/**
 * The factor that multiplies a kept element: 1/f32(1 − p) in f32; infinite at p = 1, where nothing is kept.
 * @throws InvalidArgumentError if `p` is not in [0, 1].
 */
export function nativeDropoutScale(p: number): number {
  return Math.fround(1 / Math.fround(1 - checkProbability('p', p)));
}

/**
 * How far the call advances the generator's offset, in 32-bit words: each thread's draws, rounded up to whole
 * blocks.
 *
 * @throws InvalidArgumentError if an option is out of range.
 */
export function nativeDropoutIncrement(
  options: Pick<NativeDropoutOptions, 'numel' | 'grid' | 'vec'>,
): number {
  checkOptions('options', options, optionNames);
  const perTurn = 256 * checkGeometry(options) * 4;
  return (Math.floor((options.numel - 1) / perTurn) + 1) * 4;
}

function checkGeometry({ numel, grid, vec }: Pick<NativeDropoutOptions, 'numel' | 'grid' | 'vec'>): number {
  if (!Number.isSafeInteger(numel) || numel < 0) throw invalid('numel', 'a whole number', numel);
  if (!Number.isSafeInteger(grid) || grid < 1) throw invalid('grid', 'a whole number of at least 1', grid);
  if (![1, 2, 4, 8, 16].includes(vec)) throw invalid('vec', '1, 2, 4, 8 or 16', vec);
  if (numel % vec !== 0) throw invalid('vec', `a divisor of numel (${numel}): halve it`, vec);
  return grid;
}

function invalid(argument: string, wanted: string, got: unknown): InvalidArgumentError {
  return new InvalidArgumentError(argument, `must be ${wanted}, got ${describeValue(got)}`);
}

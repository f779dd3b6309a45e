import { type DType, dtypeInfo } from '../../../tensor/dtype/dtype.ts';
import { roundHalfEven } from '../../../tensor/dtype/round.ts';
import type { Tensor } from '../../../tensor/tensor.ts';

/**
 * Stores `count` values from `values[0]` on, each rounded once, at indices `at`, `at + step`, … of a tensor's
 * data.
 */
export type LineWriter = (values: Float64Array, count: number, at: number, step: number) => void;

const integerRange: Readonly<Partial<Record<DType, readonly [number, number]>>> = {
  i8: [-128, 127],
  u8: [0, 255],
  i32: [-(2 ** 31), 2 ** 31 - 1],
  u32: [0, 2 ** 32 - 1],
};

/** A writer of lines of numbers to a tensor; integer dtypes round to nearest even and saturate. */
export function lineWriter({ data, dtype }: Tensor): LineWriter {
  const range = integerRange[dtype];
  if (range) {
    const [low, high] = range;
    return (values, count, at, step) => {
      for (let n = 0; n < count; n++) {
        data[at + n * step] = Math.min(Math.max(roundHalfEven(values[n]), low), high);
      }
    };
  }
  const { encode } = dtypeInfo[dtype];
  return (values, count, at, step) => {
    for (let n = 0; n < count; n++) data[at + n * step] = encode(values[n]);
  };
}

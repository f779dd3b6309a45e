import { joinU64 } from '@tilewise/philox';
import { type SdpaOptions, Tensor, type TensorDesc } from '@tilewise/core';
import type { ScalarProduct, StepDropout, StepOptions } from '../lowering/attention-step.ts';

/** How a step's options become those of a call. */
export interface OptionSource<T> {
  tensor(value: number): T;
  /** All numbers of a small value, read on the host. */
  numbers(value: number): Promise<Float64Array> | Float64Array;
}

/** The options of an attention call, with the numbers that they need read now. */
export async function attentionOptions<T extends TensorDesc>(
  { scale, causal, bias, mask, softcap, scoreMod, dropout }: StepOptions,
  source: OptionSource<T>,
): Promise<SdpaOptions<T | Tensor>> {
  return {
    scale: scale ? await product(scale, source) : 1,
    ...(causal && { causal }),
    ...(bias !== undefined && { bias: source.tensor(bias) }),
    ...(mask !== undefined && { mask: source.tensor(mask) }),
    ...(softcap && { softcap: await product(softcap, source) }),
    ...(scoreMod && {
      scoreMod: {
        expr: scoreMod.expr,
        captures: Object.fromEntries(
          Object.entries(scoreMod.captures).map(([name, value]) => [name, source.tensor(value)]),
        ),
      },
    }),
    ...(dropout && { dropout: await dropoutOption(dropout, source) }),
  };
}

async function product<T>({ factors }: ScalarProduct, source: OptionSource<T>): Promise<number> {
  let result = 1;
  for (const { value, inverse } of factors) {
    const [x] = await source.numbers(value);
    result = inverse ? result / x : result * x;
  }
  return result;
}

async function dropoutOption<T>(
  { seed, offset, p }: StepDropout,
  source: OptionSource<T>,
): Promise<SdpaOptions<T | Tensor>['dropout']> {
  const probability = typeof p === 'number' ? Math.fround(p) : (await source.numbers(p.value))[0];
  // An attention problem has no p = 1; a mask that keeps nothing says the same.
  if (probability >= 1) return { mask: Tensor.zeros([1, 1, 1, 1], { dtype: 'bool' }), scale: 0 };
  return {
    p: probability,
    seed: await word64(seed, source),
    offset: await word64(offset, source),
    scheme: 'onednn',
  };
}

async function word64<T>(value: number, source: OptionSource<T>): Promise<bigint> {
  const [low, high] = await source.numbers(value);
  return joinU64([low, high]);
}

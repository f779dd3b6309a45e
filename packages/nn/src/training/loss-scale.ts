import { aboveZero, integerFrom } from '../checks/rules.ts';

/** The scale of the loss, which keeps small gradients from becoming 0 in f16. */
export interface LossScale {
  readonly value: number;
  /** Steps since the scale last changed, or since the last overflow. */
  readonly steady: number;
  /** The number of skipped steps, which the optimizer does not count. Default 0. */
  readonly skipped?: number | undefined;
}

/** Whether the numbers of a state, which anyone may have written, are those of a scale. */
export function isLossScale({ value, steady, skipped = 0 }: LossScale): boolean {
  return aboveZero.holds(value) && [steady, skipped].every(integerFrom(0).holds);
}

/** Steps without an overflow after which the scale doubles, as in `torch.amp.GradScaler`. */
const GROWTH_INTERVAL = 2000;
const LARGEST = 2 ** 24;

export const initialLossScale: LossScale = { value: 2 ** 16, steady: 0 };

/**
 * The scale with which a run starts or continues; null if the loss is not scaled.
 * @param option a fixed scale, `'dynamic'`, or false for no scale.
 */
export function startLossScale(
  option: number | 'dynamic' | false,
  from: LossScale = initialLossScale,
): LossScale | null {
  if (option === 'dynamic') return from;
  return option ? { ...from, value: option } : null;
}

/**
 * The scale after a step. A dynamic scale is halved after an overflow, and doubled after many steps without
 * one.
 */
export function nextLossScale(
  { value, steady, skipped = 0 }: LossScale,
  hasFinite: boolean,
  isDynamic = true,
): LossScale {
  if (!hasFinite)
    return { value: isDynamic ? Math.max(1, value / 2) : value, steady: 0, skipped: skipped + 1 };
  if (!isDynamic || steady + 1 < GROWTH_INTERVAL) return { value, steady: steady + 1, skipped };
  return { value: Math.min(LARGEST, 2 * value), steady: 0, skipped };
}

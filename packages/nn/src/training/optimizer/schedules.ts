import { InvalidArgumentError } from '@tilewise/core';
import { checkFields, type FieldRules } from '../../checks/check-fields.ts';
import { fromZero, integerFrom, required } from '../../checks/rules.ts';

/** The learning rate as a function of the step, from 0. */
export type Schedule = (step: number) => number;

/** How a learning rate rises and falls. */
export interface ScheduleOptions {
  /** The largest rate. */
  readonly peak: number;
  /** Steps over which the rate rises from 0 to the peak. Default 0. */
  readonly warmup?: number | undefined;
  /** The number of steps of the run; the rate falls until the last one. Without it, the rate never falls. */
  readonly steps?: number | undefined;
  /** The rate after the last step. Default 0. */
  readonly end?: number | undefined;
  /** The first step at which the rate falls. Default: the end of the warm-up. */
  readonly fallsFrom?: number | undefined;
}

const scheduleRules: FieldRules<ScheduleOptions> = {
  peak: required(fromZero),
  warmup: integerFrom(0),
  steps: integerFrom(0),
  end: fromZero,
  fallsFrom: integerFrom(0),
};

/**
 * The learning rate as a function of the step, from 0: rises linearly to the peak and falls linearly to the
 * end.
 * @throws InvalidArgumentError for invalid options.
 */
export function linearSchedule(options: ScheduleOptions): Schedule {
  return schedule(options, left => left);
}

/**
 * The learning rate as a function of the step, from 0: rises linearly to the peak and falls as half a cosine
 * (Loshchilov and Hutter 2017, SGDR).
 * @throws InvalidArgumentError for invalid options.
 */
export function cosineSchedule(options: ScheduleOptions): Schedule {
  return schedule(options, left => (1 - Math.cos(Math.PI * left)) / 2);
}

/**
 * @param fall maps the remaining fraction of the fall to the fraction of the way from the end rate to the
 * peak.
 */
function schedule(options: ScheduleOptions, fall: (left: number) => number): Schedule {
  checkFields('options', options, scheduleRules);
  const { peak, warmup = 0, steps = Number.MAX_SAFE_INTEGER, end = 0 } = options;
  const { fallsFrom = steps === Number.MAX_SAFE_INTEGER ? steps : Math.min(warmup, steps) } = options;
  if (fallsFrom > steps)
    throw new InvalidArgumentError('fallsFrom', `must be at most steps (${steps}), got ${fallsFrom}`);
  return step => {
    const rise = warmup === 0 ? 1 : (step + 1) / warmup;
    const left = step < fallsFrom ? 1 : Math.max(0, (steps - step) / Math.max(1, steps - fallsFrom));
    const rate = end + (peak - end) * fall(left);
    return rise < 1 ? Math.min(peak * rise, rate) : rate;
  };
}

import type { GoldenCase } from '@tilewise/test-data';

type Check = (value: unknown) => boolean;

const isNumber: Check = value => typeof value === 'number' && Number.isFinite(value);
const isCount: Check = value => Number.isInteger(value) && Number(value) >= 0;
const isOneOf =
  (...values: readonly unknown[]): Check =>
  value =>
    values.includes(value);
const isLengths: Check = value => value == null || (Array.isArray(value) && value.every(isCount));
const isBounds: Check = value => Array.isArray(value) && value.length === 2 && value.every(Number.isInteger);

/** The values that each parameter may have. The runner ignores `scaleIsDefault`, and always uses `scale`. */
const checks: Readonly<Record<string, Check>> = {
  layout: isOneOf('BHSD', 'THD'),
  ...{ B: isCount, Hq: isCount, Hk: isCount, Sq: isCount, Skv: isCount, Dqk: isCount, Dv: isCount },
  ...{ scale: isNumber, scaleIsDefault: () => true, softcap: value => isNumber(value) && Number(value) >= 0 },
  ...{ causal: isOneOf(true, false), align: isOneOf('tl', 'br') },
  window: value => value == null || isBounds(value),
  dropoutP: value => isNumber(value) && Number(value) >= 0 && Number(value) < 1,
  ...{ qLens: isLengths, kvLens: isLengths },
  ...{ maxSeqQ: value => value == null || isCount(value) },
  ...{ maxSeqKv: value => value == null || isCount(value) },
};

/** The parameters that a runner of these cases knows. */
export const knownParams: readonly string[] = Object.keys(checks);

/**
 * Checks that a case states one call: each parameter has a value of its meaning, and the tensors have the
 * extents that the parameters say; no parameter says how many heads v has. Otherwise the runner could make
 * another call than the case describes, and report that the case passed.
 * @throws Error naming the parameter or the tensor.
 */
export function checkCase({ params, inputs, outputs }: GoldenCase): void {
  for (const [name, check] of Object.entries(checks)) {
    const value: unknown = Object(params)[name];
    if (!check(value)) throw new Error(`the parameter ${name} cannot be ${JSON.stringify(value)}`);
  }
  const { layout, B, Hq, Hk, Sq, Skv, Dqk, Dv, dropoutP } = params;
  const isPacked = layout === 'THD';
  const shapes = isPacked
    ? { q: [null, Hq, Dqk], k: [null, Hk, Dqk], v: [null, null, Dv] }
    : { q: [B, Hq, Sq, Dqk], k: [B, Hk, Skv, Dqk], v: [B, null, Skv, Dv] };
  for (const [name, shape] of Object.entries(shapes)) {
    const given = inputs[name]?.shape;
    const fits = given?.length === shape.length && shape.every((n, d) => n === null || n === given[d]);
    if (given && !fits) throw new Error(`${name} has shape [${given}], which the parameters contradict`);
  }
  if (dropoutP > 0 && !inputs.keep) throw new Error('the case has dropout, but no input keep');
  if (Object.keys(outputs).length === 0) throw new Error('the case has no output to compare with');
}

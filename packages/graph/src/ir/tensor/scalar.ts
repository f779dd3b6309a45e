import type { GraphDType } from './dtype.ts';

/** A single number from a caller; for a bool tensor also true or false. */
export type ScalarValue = number | bigint | boolean;

/** Whether a value is a single number rather than a tensor. */
export function isScalarValue(given: unknown): given is ScalarValue {
  return typeof given === 'number' || typeof given === 'bigint' || typeof given === 'boolean';
}

/** The numbers that an element may be, as a predicate and in words. */
interface ScalarRule {
  readonly holds: (value: number | bigint) => boolean;
  readonly text: string;
}

const truth: ScalarRule = {
  holds: value => Number(value) === 0 || Number(value) === 1,
  text: 'true, false, 1 or 0',
};

const real: ScalarRule = { holds: () => true, text: 'a number' };

/** 64 bits, signed or unsigned; the code that reads them decides. */
const word64: ScalarRule = {
  holds: value =>
    (typeof value === 'bigint' || Number.isSafeInteger(value)) && value >= -(2n ** 63n) && value < 2n ** 64n,
  text: 'a bigint or a safe integer in [-2^63, 2^64)',
};

function integer(least: number, most: number): ScalarRule {
  return {
    holds: value => (typeof value === 'bigint' || Number.isInteger(value)) && value >= least && value <= most,
    text: `an integer in [${least}, ${most}]`,
  };
}

const rules: Readonly<Partial<Record<GraphDType, ScalarRule>>> = {
  i32: /* @__PURE__ */ integer(-(2 ** 31), 2 ** 31 - 1),
  u32: /* @__PURE__ */ integer(0, 2 ** 32 - 1),
  i8: /* @__PURE__ */ integer(-128, 127),
  u8: /* @__PURE__ */ integer(0, 255),
  i4: /* @__PURE__ */ integer(-8, 7),
  u4: /* @__PURE__ */ integer(0, 15),
  i64: word64,
  bool: truth,
};

/**
 * The rule that a number breaks as an element of a dtype; null if it breaks none. Integers are neither
 * truncated nor wrapped; floats are rounded.
 */
export function brokenScalarRule(dtype: GraphDType, value: ScalarValue): string | null {
  const { holds, text } = rules[dtype] ?? real;
  const isHeld = typeof value === 'boolean' ? dtype === 'bool' : holds(value);
  return isHeld ? null : text;
}

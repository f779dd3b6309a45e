import type { DType } from '@tilewise/core';
import type { ExprType } from '@tilewise/core/expr';
import { byteAt, packBytes, splitBytes } from './bytes.ts';
import { type StorageFormat, storageFormat } from './storage-format.ts';

/**
 * How a dtype of any kind is stored in storage buffers, and the expression type that its elements are read
 * as.
 */
export interface ElementFormat extends Omit<StorageFormat, 'loadHalf4' | 'encode4' | 'round4'> {
  readonly type: ExprType;
  /**
   * WGSL expression that converts four values of an expression to their stored form: codes (vec4u) if several
   * elements share a word.
   */
  readonly encode4: (values: string, from: ExprType) => string;
}

/** The WGSL names of types: of one value, and of four. */
export const wgslTypes: Readonly<Record<ExprType, { readonly one: string; readonly four: string }>> = {
  f32: { one: 'f32', four: 'vec4f' },
  i32: { one: 'i32', four: 'vec4i' },
  bool: { one: 'bool', four: 'vec4<bool>' },
};

/**
 * WGSL expression that converts one value to another expression type. NaN is true: `!=` would be false for it
 * on Vulkan, where it is an ordered comparison.
 */
export function convert(value: string, from: ExprType, to: ExprType): string {
  if (from === to) return value;
  if (to === 'bool') return `!(${value} == ${from === 'f32' ? '0f' : '0i'})`;
  return from === 'bool' ? `select(${to}(0), ${to}(1), ${value})` : `${to}(${value})`;
}

/** Converts four values to floats. */
export const floats4 = (values: string, from: ExprType): string =>
  from === 'f32' ? values : from === 'i32' ? `vec4f(${values})` : `select(vec4f(), vec4f(1.0), ${values})`;

/**
 * Converts four values to i32 within a range, rounding floats to the nearest integer, ties to even. WGSL's
 * own conversions saturate.
 */
function integers4(values: string, from: ExprType, range: readonly [number, number] | null): string {
  if (from === 'bool') return `select(vec4i(), vec4i(1), ${values})`;
  const [low, high] = range ?? [];
  if (from === 'f32') {
    const rounded = `round(${values})`;
    return `vec4i(${range ? `clamp(${rounded}, vec4f(${low}.0), vec4f(${high}.0))` : rounded})`;
  }
  return range ? `clamp(${values}, vec4i(${low}), vec4i(${high}))` : values;
}

const truths4 = (values: string, from: ExprType): string =>
  from === 'bool' ? values : `!(${values} == ${wgslTypes[from].four}())`;

const bytes = (format: Pick<ElementFormat, 'type' | 'load' | 'load4' | 'encode4'>): ElementFormat => ({
  ...format,
  bytes: 1,
  scalarElement: 'u32',
  vectorElement: 'u32',
  pack4: packBytes,
  requires: [splitBytes],
});

const words = (
  scalarElement: string,
  vectorElement: string,
  format: Pick<ElementFormat, 'load' | 'load4' | 'encode4'>,
): ElementFormat => ({
  ...format,
  bytes: 4,
  type: 'i32',
  scalarElement,
  vectorElement,
  pack4: values => values,
  requires: [],
});

/** The formats of integers and booleans. */
const integerFormats: Readonly<Partial<Record<DType, ElementFormat>>> = {
  i32: /* @__PURE__ */ words('i32', 'vec4i', {
    load: (word, at) => word(at),
    load4: (array, index) => `${array}[${index}]`,
    encode4: (values, from) => integers4(values, from, null),
  }),
  u32: /* @__PURE__ */ words('u32', 'vec4u', {
    load: (word, at) => `i32(${word(at)})`,
    load4: (array, index) => `vec4i(${array}[${index}])`,
    encode4: (values, from) =>
      from === 'f32'
        ? `vec4u(round(${values}))`
        : from === 'i32'
          ? `vec4u(max(${values}, vec4i()))`
          : `select(vec4u(), vec4u(1u), ${values})`,
  }),
  i8: /* @__PURE__ */ bytes({
    type: 'i32',
    load: (word, at) => `extractBits(bitcast<i32>(${byteAt(word, at)}), 0u, 8u)`,
    load4: (array, index) => `extractBits(bitcast<vec4i>(split_bytes(${array}[${index}])), 0u, 8u)`,
    encode4: (values, from) => `(bitcast<vec4u>(${integers4(values, from, [-128, 127])}) & vec4u(0xffu))`,
  }),
  u8: /* @__PURE__ */ bytes({
    type: 'i32',
    load: (word, at) => `i32(${byteAt(word, at)})`,
    load4: (array, index) => `vec4i(split_bytes(${array}[${index}]))`,
    encode4: (values, from) => `bitcast<vec4u>(${integers4(values, from, [0, 255])})`,
  }),
  bool: /* @__PURE__ */ bytes({
    type: 'bool',
    load: (word, at) => `(${byteAt(word, at)} != 0u)`,
    load4: (array, index) => `(split_bytes(${array}[${index}]) != vec4u())`,
    encode4: (values, from) => `select(vec4u(), vec4u(1u), ${truths4(values, from)})`,
  }),
};

/** The format of a dtype; for floats, that of `storageFormat`. */
export function elementFormat(dtype: DType): ElementFormat {
  const integer = integerFormats[dtype];
  if (integer) return integer;
  const { encode4, ...format } = storageFormat(dtype);
  return {
    ...format,
    type: 'f32',
    encode4: (values, from) => encode4?.(floats4(values, from)) ?? floats4(values, from),
  };
}

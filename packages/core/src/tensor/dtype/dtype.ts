import { type DType, type DTypeTraits, dtypeTraits } from './dtype-traits.ts';
import { bfloat16, float8e4m3, float8e5m2, float16 } from './float-format.ts';

export { type DType, isDType } from './dtype-traits.ts';

/** The typed arrays that back tensors. 16-bit and 8-bit floats are stored as bit patterns. */
export type TypedArray = Float32Array | Uint16Array | Int32Array | Uint32Array | Int8Array | Uint8Array;

/** How a dtype is stored and read. `decode` and `encode` convert one element of the backing array. */
export interface DTypeInfo extends DTypeTraits {
  /** Makes a backing array of `length` zeros. */
  readonly allocate: (length: number) => TypedArray;
  /** Converts an element of the backing array to a number; exact. */
  readonly decode: (stored: number) => number;
  /**
   * Converts a number to an element of the backing array; floats round to nearest even, integers truncate as
   * in typed arrays.
   */
  readonly encode: (value: number) => number;
}

type Codec = Pick<DTypeInfo, 'decode' | 'encode'>;

const identity = (x: number): number => x;
const truth = (x: number): number => (x === 0 ? 0 : 1);
const asIs: Codec = { decode: identity, encode: identity };

const row = (dtype: DType, allocate: DTypeInfo['allocate'], { decode, encode }: Codec = asIs): DTypeInfo => ({
  ...dtypeTraits[dtype],
  allocate,
  decode,
  encode,
});

/** How each dtype is stored and read. No other code knows how an element is stored. */
export const dtypeInfo: Readonly<Record<DType, DTypeInfo>> = {
  f32: /* @__PURE__ */ row('f32', n => new Float32Array(n)),
  f16: /* @__PURE__ */ row('f16', n => new Uint16Array(n), float16),
  bf16: /* @__PURE__ */ row('bf16', n => new Uint16Array(n), bfloat16),
  f8e4m3: /* @__PURE__ */ row('f8e4m3', n => new Uint8Array(n), float8e4m3),
  f8e5m2: /* @__PURE__ */ row('f8e5m2', n => new Uint8Array(n), float8e5m2),
  i32: /* @__PURE__ */ row('i32', n => new Int32Array(n)),
  u32: /* @__PURE__ */ row('u32', n => new Uint32Array(n)),
  i8: /* @__PURE__ */ row('i8', n => new Int8Array(n)),
  u8: /* @__PURE__ */ row('u8', n => new Uint8Array(n)),
  bool: /* @__PURE__ */ row('bool', n => new Uint8Array(n), { decode: truth, encode: truth }),
};

import { bfloat16, type FloatFormat, float8e4m3, float8e5m2, float16 } from './float-format.ts';

/** Element types a tensor can be stored in. Arithmetic is f32 (f64 in the reference) whatever the storage. */
export type DType = 'f32' | 'f16' | 'bf16' | 'f8e4m3' | 'f8e5m2' | 'i32' | 'u32' | 'i8' | 'u8' | 'bool';

/** The typed arrays that back tensors. 16-bit and 8-bit floats are held as their bit patterns. */
export type TypedArray = Float32Array | Uint16Array | Int32Array | Uint32Array | Int8Array | Uint8Array;

/** How a dtype is stored and read. `decode` and `encode` work on one element of the backing array. */
export interface DTypeInfo {
  readonly bytes: 1 | 2 | 4;
  readonly kind: 'float' | 'integer' | 'boolean';
  readonly allocate: (length: number) => TypedArray;
  /** Element of the backing array to number; exact. */
  readonly decode: (stored: number) => number;
  /** Number to element of the backing array; floats round to nearest even, integers truncate as typed arrays do. */
  readonly encode: (value: number) => number;
}

const identity = (x: number): number => x;

const float = (format: FloatFormat, allocate: DTypeInfo['allocate'], bytes: 1 | 2): DTypeInfo => ({
  bytes,
  kind: 'float',
  allocate,
  decode: format.decode,
  encode: format.encode,
});

const integer = (allocate: DTypeInfo['allocate'], bytes: 1 | 4): DTypeInfo => ({
  bytes,
  kind: 'integer',
  allocate,
  decode: identity,
  encode: identity,
});

/** One row per dtype; the only place that knows how an element is stored. */
export const dtypeInfo: Readonly<Record<DType, DTypeInfo>> = {
  f32: { bytes: 4, kind: 'float', allocate: n => new Float32Array(n), decode: identity, encode: identity },
  f16: /* @__PURE__ */ float(float16, n => new Uint16Array(n), 2),
  bf16: /* @__PURE__ */ float(bfloat16, n => new Uint16Array(n), 2),
  f8e4m3: /* @__PURE__ */ float(float8e4m3, n => new Uint8Array(n), 1),
  f8e5m2: /* @__PURE__ */ float(float8e5m2, n => new Uint8Array(n), 1),
  i32: /* @__PURE__ */ integer(n => new Int32Array(n), 4),
  u32: /* @__PURE__ */ integer(n => new Uint32Array(n), 4),
  i8: /* @__PURE__ */ integer(n => new Int8Array(n), 1),
  u8: /* @__PURE__ */ integer(n => new Uint8Array(n), 1),
  bool: {
    bytes: 1,
    kind: 'boolean',
    allocate: n => new Uint8Array(n),
    decode: x => (x === 0 ? 0 : 1),
    encode: x => (x === 0 ? 0 : 1),
  },
};

/** Whether `name` is a dtype of this library. */
export function isDType(name: unknown): name is DType {
  return typeof name === 'string' && Object.hasOwn(dtypeInfo, name);
}

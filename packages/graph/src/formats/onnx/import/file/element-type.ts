import type { DType } from '@tilewise/core';

/** The storage of an ONNX element type in a file, and its dtype in an engine. */
export interface ElementType {
  readonly name: string;
  /** The bits of an element. Elements of 2 and 4 bits are packed into bytes, lowest bits first. */
  readonly bits: 2 | 4 | 8 | 16 | 32 | 64;
  readonly kind: 'float' | 'signed' | 'unsigned' | 'bool';
  /**
   * The dtype that an engine uses for the type. Types that engines lack are converted, with a range check.
   */
  readonly dtype: DType;
  /** The field of TensorProto with the elements, if there is no raw data. */
  readonly field: 'float_data' | 'int32_data' | 'int64_data' | 'double_data' | 'uint64_data';
}

const type = (
  name: string,
  bits: ElementType['bits'],
  kind: ElementType['kind'],
  dtype: DType,
  field: ElementType['field'] = 'int32_data',
): ElementType => ({ name, bits, kind, dtype, field });

/** The supported element types of onnx.proto's `TensorProto.DataType`, by number. */
const elementTypes: ReadonlyMap<number, ElementType> = new Map([
  [1, type('float', 32, 'float', 'f32', 'float_data')],
  [2, type('uint8', 8, 'unsigned', 'u8')],
  [3, type('int8', 8, 'signed', 'i8')],
  [4, type('uint16', 16, 'unsigned', 'i32')],
  [5, type('int16', 16, 'signed', 'i32')],
  [6, type('int32', 32, 'signed', 'i32')],
  [7, type('int64', 64, 'signed', 'i32', 'int64_data')],
  [9, type('bool', 8, 'bool', 'bool')],
  [10, type('float16', 16, 'float', 'f16')],
  [11, type('double', 64, 'float', 'f32', 'double_data')],
  [12, type('uint32', 32, 'unsigned', 'u32', 'uint64_data')],
  [13, type('uint64', 64, 'unsigned', 'i32', 'uint64_data')],
  [16, type('bfloat16', 16, 'float', 'bf16')],
  [17, type('float8e4m3fn', 8, 'float', 'f8e4m3')],
  [19, type('float8e5m2', 8, 'float', 'f8e5m2')],
  [21, type('uint4', 4, 'unsigned', 'u8')],
  [22, type('int4', 4, 'signed', 'i8')],
  [25, type('uint2', 2, 'unsigned', 'u8')],
  [26, type('int2', 2, 'signed', 'i8')],
]);

const typeNamed = (number: number): ElementType => elementTypes.get(number) as ElementType;

export const boolType: ElementType = typeNamed(9);
export const floatType: ElementType = typeNamed(1);
export const int32Type: ElementType = typeNamed(6);
export const int64Type: ElementType = typeNamed(7);
export const uint8Type: ElementType = typeNamed(2);

export const isInteger = ({ kind }: ElementType): boolean => kind === 'signed' || kind === 'unsigned';

/** The smallest and the largest integer of a type. */
export function integerRange({ kind, bits }: ElementType): { readonly min: number; readonly max: number } {
  const size = 2 ** bits;
  return kind === 'signed' ? { min: -size / 2, max: size / 2 - 1 } : { min: 0, max: size - 1 };
}

const unsupportedTypes: Readonly<Record<number, string>> = {
  8: 'string',
  14: 'complex64',
  15: 'complex128',
  18: 'float8e4m3fnuz',
  20: 'float8e5m2fnuz',
  23: 'float4e2m1',
  24: 'float8e8m0',
};

/** The element type with a number; undefined for an unknown type or one that no engine supports. */
export function elementTypeOf(type: number): ElementType | undefined {
  return elementTypes.get(type);
}

/** The name of the element type with a number, for errors. */
export function elementTypeName(type: number): string {
  return elementTypes.get(type)?.name ?? unsupportedTypes[type] ?? `number ${type}`;
}

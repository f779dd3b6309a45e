import type { DType } from '@tilewise/core';
import { type ShaderPart, type StorageBinding, u32Uniforms } from '../shader-part.ts';
import { type StorageFormat, storageFormat } from './storage-format.ts';

/** The parts of a storage format that a binding depends on. */
export type BoundFormat = Pick<StorageFormat, 'bytes' | 'scalarElement'> & {
  readonly vectorElement?: string;
};

/**
 * The binding for reading a tensor: an array of its elements (or of words that contain them), or of vectors
 * of four elements.
 */
export const readBinding = (
  name: string,
  { bytes, scalarElement, vectorElement = scalarElement }: BoundFormat,
  isVector = false,
): StorageBinding => ({
  name,
  element: isVector ? vectorElement : scalarElement,
  access: 'read',
  elementBytes: bytes,
  alignment: isVector ? 4 * bytes : bytes,
});

/**
 * A contiguous tensor, bound as an array of words or of pairs of words; it starts at the uniform `NAME_base`.
 * @param variable its name in WGSL; default: the tensor's name.
 */
export function wordTensor(
  name: string,
  access: 'read' | 'read_write',
  element: 'f32' | 'i32' | 'u32' | 'vec2f' | 'atomic<u32>',
  variable: string = name,
): Required<Pick<ShaderPart, 'bindings' | 'uniforms'>> {
  const bytes = element === 'vec2f' ? 8 : 4;
  return {
    bindings: [{ name, variable, element, access, elementBytes: bytes, alignment: bytes }],
    uniforms: u32Uniforms({ [`${variable}_base`]: { offsetOf: name } }),
  };
}

/** How a kernel writes a tensor of floats. */
export interface FloatWriter {
  readonly binding: StorageBinding;
  readonly requires: StorageFormat['requires'];
  /** The function that replaces a part of a word, if elements share words. */
  readonly functions: string;
  /** Statement that declares `bits`, the codes of the vec4f x, if numbers are not stored unchanged. */
  readonly encode: string;
  /** The name of the stored form of x: its codes, or x itself. */
  readonly codes: 'bits' | 'x';
  /** Statement that stores one code. */
  readonly storeOne: (at: string, code: string) => string;
  /** Statement that stores `codes` as the vector element at `index`. */
  readonly storeFour: (index: string) => string;
}

/**
 * Writes a tensor as vectors of four elements, or element by element; an element that shares its word with
 * another value then replaces only its own part of the word, atomically.
 * @param variable its name in WGSL; default: the tensor's name.
 */
export function floatWriter(
  name: string,
  dtype: DType,
  isVector: boolean,
  variable: string = name,
): FloatWriter {
  const format = storageFormat(dtype);
  const { bytes, encode4, requires } = format;
  const codes = encode4 ? 'bits' : 'x';
  const binding = readBinding(name, format, isVector);
  const element = encode4 && !isVector ? 'atomic<u32>' : binding.element;
  return {
    binding: { ...binding, variable, element, access: 'read_write' },
    requires,
    codes,
    functions: bytes === 4 || isVector ? '' : storePart(variable, bytes),
    encode: encode4 ? `let bits = ${encode4('x')};` : '',
    storeOne: (at, code) =>
      encode4 ? `${variable}_store_part(${at}, ${code});` : `${variable}[${at}] = ${code};`,
    storeFour: index => `${variable}[${index}] = ${format.pack4(codes)};`,
  };
}

/**
 * `NAME_store_part(at, bits)`: replaces the one or two bytes of element `at`; the rest of its word belongs to
 * other elements. No other invocation writes these bytes, so the two atomic operations need not be a single
 * one.
 */
export function storePart(name: string, bytes: 1 | 2): string {
  const perWord = 4 / bytes;
  return `fn ${name}_store_part(at: u32, bits: u32) {
  let word = at / ${perWord}u;
  let shift = (at % ${perWord}u) * ${8 * bytes}u;
  atomicAnd(&${name}[word], ~(${2 ** (8 * bytes) - 1}u << shift));
  atomicOr(&${name}[word], bits << shift);
}`;
}

import type { DType, TensorDesc } from '@tilewise/core';
import { dtypeTraits } from '@tilewise/core/engine';
import { isNegativeInfinity, lowest } from '../../codegen/formats/float-bits.ts';
import { storageFormat } from '../../codegen/formats/storage-format.ts';
import { readBinding } from '../../codegen/formats/tensor-binding.ts';
import { readElement, type ShaderPart, u32Uniforms } from '../../codegen/shader-part.ts';
import { captureTensor } from '../config/tensor-names.ts';

const byte = 'captured_word >> ((at & 3u) * 8u)';

/**
 * How the integers and booleans of a captured tensor are read: the type of the array's elements, and the
 * expression that loads element `at`.
 */
const integerFormats: Readonly<Partial<Record<DType, readonly [element: string, load: string]>>> = {
  i32: ['i32', 'captured_word'],
  u32: ['u32', 'i32(captured_word)'],
  i8: ['u32', `extractBits(bitcast<i32>(${byte}), 0u, 8u)`],
  u8: ['u32', `i32((${byte}) & 0xffu)`],
  bool: ['u32', `((${byte}) & 0xffu) != 0u`],
};

const wgslTypes = { float: 'f32', integer: 'i32', boolean: 'bool' } as const;

/** The function that reads a captured tensor, see `capturePart`. */
export const captureLoad = (name: string): string => `capture_${name}`;

/** The function that returns the bits of a float element, from which infinities are recognised. */
export const captureBits = (name: string): string => `bits_of_${name}`;

/**
 * `capture_NAME(i0, i1, …) -> f32, i32 or bool`: an element of a captured tensor; for floats also
 * `bits_of_NAME(i0, i1, …) -> u32`. Indices are clamped to the tensor: both sides of a `select` are
 * evaluated, so a load behind a condition may get any index. −Infinity is read as the lowest finite number,
 * because WGSL lets arithmetic assume that there are no infinities.
 */
export function capturePart(name: string, { dtype, shape, strides }: TensorDesc): ShaderPart {
  const { kind, bytes } = dtypeTraits[dtype];
  const tensor = captureTensor(name);
  const variable = `captured_${name}`;
  const integer = integerFormats[dtype];
  const format = integer ? null : storageFormat(dtype);
  const scalarElement = integer?.[0] ?? format?.scalarElement ?? 'u32';
  const dims = shape.map((_, d) => d);
  const offsets = dims.map(
    d => ` + u32(clamp(i${d}, 0i, P.${variable}_last${d})) * P.${variable}_stride${d}`,
  );
  const parameters = dims.map(d => `i${d}: i32`).join(', ');
  const address = `let at = P.${variable}_base${offsets.join('')};`;
  const code = integer
    ? `fn ${captureLoad(name)}(${parameters}) -> ${wgslTypes[kind]} {
  ${address}
  let captured_word = ${readElement(variable, bytes === 4 ? 'at' : 'at >> 2u')};
  return ${integer[1]};
}`
    : `fn ${captureBits(name)}(${parameters}) -> u32 {
  ${address}
  return bitcast<u32>(${format?.load(index => readElement(variable, index), 'at')});
}

fn ${captureLoad(name)}(${parameters}) -> f32 {
  let x = bitcast<f32>(${captureBits(name)}(${dims.map(d => `i${d}`).join(', ')}));
  return select(x, ${lowest}, is_negative_infinity(x));
}`;
  return {
    bindings: [{ ...readBinding(tensor, { bytes, scalarElement }), variable, gatherable: true }],
    uniforms: [
      ...u32Uniforms({ [`${variable}_base`]: { offsetOf: tensor } }),
      ...dims.flatMap(d => [
        { name: `${variable}_last${d}`, type: 'i32', value: Math.max((shape[d] ?? 0) - 1, 0) } as const,
        { name: `${variable}_stride${d}`, type: 'u32', value: strides[d] ?? 0 } as const,
      ]),
    ],
    requires: format ? [isNegativeInfinity, ...format.requires] : [],
    code,
  };
}

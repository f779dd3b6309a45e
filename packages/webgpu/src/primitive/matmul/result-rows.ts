import { floatWriter } from '../../codegen/formats/tensor-binding.ts';
import { type ShaderPart, u32Uniforms } from '../../codegen/shader-part.ts';
import { statements } from '../../codegen/text.ts';
import type { Matrix } from './operands/matrix.ts';

/**
 * `NAME_store4(start, row, n, x)`: stores elements n…n+3 of a row of `columns` elements, as far as they are
 * below P.N; as one vector if all rows consist of whole vectors. Gaps between rows and elements are not
 * written: a value that shares its word with another replaces only its own part, atomically.
 */
export function resultRows(
  { name, dtype, rowStride, columnStride, batchStrides }: Matrix,
  columns: number,
  unaligned: ReadonlySet<string>,
): ShaderPart {
  const vectorised =
    columnStride === 1 &&
    [columns, rowStride, ...batchStrides].every(n => n % 4 === 0) &&
    !unaligned.has(name);
  const { binding, requires, functions, encode, ...writer } = floatWriter(name, dtype, vectorised);
  const store = vectorised
    ? `if (n < P.N) {
    ${writer.storeFour('(first + n) >> 2u')}
  }`
    : `for (var e = 0u; e < 4u; e++) {
    if (n + e < P.N) {
      ${writer.storeOne(`first + (n + e) * P.${name}_column`, `${writer.codes}[e]`)}
    }
  }`;
  return {
    bindings: [binding],
    uniforms: u32Uniforms({ row: rowStride, column: columnStride }, `${name}_`),
    requires,
    code: `${functions}

fn ${name}_store4(start: u32, row: u32, n: u32, x: vec4f) {
  ${statements(`let first = start + row * P.${name}_row;`, encode, store)}
}`,
  };
}

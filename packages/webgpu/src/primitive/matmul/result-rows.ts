import { storageFormat } from '../../codegen/formats/storage-format.ts';
import { storePart } from '../../codegen/formats/store-part.ts';
import type { ShaderPart } from '../../codegen/shader-part.ts';
import { wholeUniforms } from '../access/index-space.ts';
import type { Matrix } from './problem.ts';

/**
 * `NAME_store4(start, row, n, x)`: elements n…n+3 of a row, of `columns` elements, those that are below P.N;
 * as one vector where all rows come in fours. Gaps between rows and elements are not touched: a value that
 * shares its word with something else replaces its own part alone, atomically.
 */
export function resultRows(
  { name, dtype, rowStride, columnStride, batchStrides }: Matrix,
  columns: number,
  unaligned: ReadonlySet<string>,
): ShaderPart {
  const format = storageFormat(dtype);
  const { encode4, bytes } = format;
  const vectorised =
    columnStride === 1 &&
    [columns, rowStride, ...batchStrides].every(n => n % 4 === 0) &&
    !unaligned.has(name);
  const stored = encode4 ? 'bits' : 'x';
  const at = `first + (n + e) * P.${name}_column`;
  const store = vectorised
    ? `if (n < P.N) {
    ${name}[(first + n) >> 2u] = ${format.pack4(stored)};
  }`
    : `for (var e = 0u; e < 4u; e++) {
    if (n + e < P.N) {
      ${encode4 ? `${name}_store_part(${at}, bits[e]);` : `${name}[${at}] = x[e];`}
    }
  }`;
  return {
    bindings: [
      {
        name,
        element: vectorised ? format.vectorElement : encode4 ? 'atomic<u32>' : format.scalarElement,
        access: 'read_write',
        elementBytes: bytes,
        alignment: vectorised ? 4 * bytes : bytes,
      },
    ],
    uniforms: wholeUniforms({ [`${name}_row`]: rowStride, [`${name}_column`]: columnStride }),
    requires: format.requires,
    code: `${vectorised || bytes === 4 ? '' : `${storePart(name, bytes)}\n\n`}fn ${name}_store4(start: u32, row: u32, n: u32, x: vec4f) {
  let first = start + row * P.${name}_row;
  ${encode4 ? `let bits = ${encode4('x')};` : ''}
  ${store}
}`,
  };
}

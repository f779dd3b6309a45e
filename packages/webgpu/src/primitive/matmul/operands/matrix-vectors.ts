import { arrayElement, storageFormat } from '../../../codegen/formats/storage-format.ts';
import type { ShaderPart } from '../../../codegen/shader-part.ts';
import { type Side, sideBinding } from './matrix-blocks.ts';

/**
 * `NAME_vector(start, x, k)`: four adjacent elements, starting at x along the side and k along the sum: along
 * the sum if the tensor has its vectors there, otherwise along the side. `NAME_vector_at_edge` returns 0 for
 * elements beyond the matrix, and does not read them. `start` is the index at which the matrix starts.
 */
export function matrixVectors(of: Side): ShaderPart {
  const { matrix, extent, vectors } = of;
  const { name, dtype } = matrix;
  const format = storageFormat(dtype);
  const first = `start + x * P.${name}_side + k * P.${name}_sum`;
  const load = (e: number): string =>
    format.load(arrayElement(name), `first${e === 0 ? '' : ` + ${e}u * P.${name}_side`}`);
  const whole = vectors ? format.load4(name, '(first) >> 2u') : `vec4f(${[0, 1, 2, 3].map(load).join(', ')})`;
  const atEdge = vectors
    ? `return ${whole};`
    : `var vector = vec4f();
  for (var e = 0u; e < 4u && x + e < P.${extent}; e++) {
    vector[e] = ${format.load(arrayElement(name), `first + e * P.${name}_side`)};
  }
  return vector;`;
  return {
    ...sideBinding(of),
    code: `fn ${name}_vector(start: u32, x: u32, k: u32) -> vec4f {
  let first = ${first};
  return ${whole};
}

fn ${name}_vector_at_edge(start: u32, x: u32, k: u32) -> vec4f {
  if (x >= P.${extent} || k >= P.${name}_K) {
    return vec4f();
  }
  let first = ${first};
  ${atEdge}
}`,
  };
}

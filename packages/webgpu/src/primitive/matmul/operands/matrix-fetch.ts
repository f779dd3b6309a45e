import { arrayElement, storageFormat } from '../../../codegen/formats/storage-format.ts';
import type { ShaderPart } from '../../../codegen/shader-part.ts';
import { type Side, sideBinding } from './matrix-blocks.ts';

/**
 * `NAME_fetch(start, x, k, is_whole)`: four adjacent elements, starting at x along the side and k along the
 * sum, as a vector of `component`: along the sum if the tensor has its vectors there, otherwise along the
 * side. Elements beyond the matrix are 0. Has no branches, so that no read waits for another: where elements
 * are beyond the matrix, the last ones are read. `start` is the index at which the matrix starts. `is_whole`:
 * all of these k are within the matrix, and elements that are beyond it along the side may have any value.
 */
export function matrixFetch(of: Side, component: 'f16' | 'f32'): ShaderPart {
  const { matrix, extent, vectors } = of;
  const { name, dtype } = matrix;
  const { load, load4, loadHalf4 } = storageFormat(dtype);
  const vector = component === 'f16' ? 'vec4<f16>' : 'vec4f';
  const [length, depth] = [`P.${extent}`, `P.${name}_K`];
  const element = (e: number): string =>
    load(arrayElement(name), `row + min(x${e === 0 ? '' : ` + ${e}u`}, ${length} - 1u) * P.${name}_side`);
  const isHalf = component === 'f16' && loadHalf4 && vectors;
  const four = isHalf
    ? loadHalf4(name, 'at >> 2u')
    : `${vector}(${vectors ? load4(name, 'at >> 2u') : `vec4f(${[0, 1, 2, 3].map(element).join(', ')})`})`;
  const [lastX, lastK] = [
    `${length} - ${vectors === 'side' ? 4 : 1}u`,
    `${depth} - ${vectors === 'sum' ? 4 : 1}u`,
  ];
  const address = vectors
    ? `let at = start + min(x, ${lastX}) * P.${name}_side + k_in * P.${name}_sum;`
    : `let row = start + k_in * P.${name}_sum;`;
  const isInside = vectors
    ? `is_whole || (x < ${length} && k < ${depth})`
    : `vec4<bool>(is_whole) | ((vec4u(x, x + 1u, x + 2u, x + 3u) < vec4u(${length})) & vec4<bool>(k < ${depth}))`;
  return {
    ...sideBinding(of),
    code: `fn ${name}_fetch(start: u32, x: u32, k: u32, is_whole: bool) -> ${vector} {
  let k_in = select(min(k, ${lastK}), k, is_whole);
  ${address}
  return select(${vector}(), ${four}, ${isInside});
}`,
  };
}

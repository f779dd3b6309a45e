import { elementCount, type TensorDesc } from '@tilewise/core';
import { elementFormat, wgslTypes } from '../../codegen/formats/element-format.ts';
import { kernelSpec } from '../../codegen/kernel-spec.ts';
import { u32Uniforms } from '../../codegen/shader-part.ts';
import { divided, type IndexSpace, indexNames, unravelIndex } from '../access/index-space.ts';
import { outputName, type PrimitiveKernels } from '../access/primitive-tensors.ts';
import { writeInSpace, writingOf } from '../access/tensor-access.ts';
import { expressionReads, type SpaceExpression, spaceExpression } from './space-expression.ts';

/** The number of rows and of columns of a tile; each invocation of a workgroup has four of its elements. */
const side = 32;
const lanes = (side * side) / 4;

/** An input whose elements are contiguous along another dimension than those of the output. */
export interface TransposedInput {
  readonly name: string;
  readonly dimension: number;
}

/**
 * The first input that is transposed relative to the output, if both are long enough along their contiguous
 * dimensions. If this input were read in the order of the output's elements, each element would come from
 * another cache line.
 */
export function transposedInput(
  { extents, steps }: IndexSpace,
  result: string,
  names: readonly string[],
): TransposedInput | null {
  const last = extents.length - 1;
  if (steps[result][last] !== 1 || extents[last] < side / 2) return null;
  for (const name of names) {
    const dimension = steps[name].findIndex((step, d) => step === 1 && d !== last && extents[d] >= side / 2);
    if (dimension >= 0 && steps[name][last] > 1) return { name, dimension };
  }
  return null;
}

/**
 * A map that reads one of its inputs through a tile in workgroup memory: it loads the tile along the input's
 * rows, and reads it along the output's.
 * @param over the expression; its positions are computed one by one.
 */
export function transposingMap(
  over: SpaceExpression,
  output: TensorDesc,
  { name, dimension }: TransposedInput,
): PrimitiveKernels {
  const { expr: value, inputs, space, unaligned, inPlace } = over;
  const result = outputName(0);
  const { extents } = space;
  const last = extents.length - 1;
  const isTiled = (d: number): boolean => d === dimension || d === last;
  const tiles = extents.map((n, d) => (isTiled(d) ? Math.ceil(n / side) : n));
  const own = writingOf(output, { extents, steps: space.steps[result] }, unaligned.has(result));
  const writing = own === 'vector' ? own : 'each';
  const { here, elsewhere } = expressionReads(value);
  const indices = indexNames(extents.length);
  const at = indices.join(', ');
  const others = here.map(input => (input === name ? 'tile[column * TILE_ROW + row]' : `${input}_at(${at})`));
  const { one, four } = wgslTypes[value.type];
  const firsts = indices.map((_, d) => `let first${d} = tile${d}${isTiled(d) ? ` * ${side}u` : ''};`);
  const inTile = indices
    .map((_, d) => `let i${d} = first${d}${d === dimension ? ' + row' : d === last ? ' + column' : ''};`)
    .join('\n');
  const [count, ...inner] = extents;
  const positions = elementCount(inner);
  const { groups, footprints } = divided(
    space,
    isTiled(0) ? side * positions : positions,
    count * positions,
    elsewhere,
  );
  const kernel = kernelSpec({
    name: 'transposing map',
    groups: { ...groups, workgroups: elementCount(tiles.slice(1)) },
    workgroupSize: lanes,
    parts: [
      { uniforms: [...u32Uniforms(extents, 'extent'), ...u32Uniforms(tiles, 'tiles')] },
      ...spaceExpression(over),
      writeInSpace(result, output, space.steps[result], writing, value.type, inPlace),
    ],
    // The pitch of a row is odd, so that columns are in different banks of the memory.
    declarations: `const TILE_ROW = ${side + 1}u;
var<workgroup> tile: array<${wgslTypes[elementFormat(inputs[name].dtype).type].one}, ${side * (side + 1)}>;`,
    body: `  ${unravelIndex('group', extents.length, 0, 'tile', 'tiles')}
  ${firsts.join('\n  ')}
  for (var n = lane; n < ${side * side}u; n += ${lanes}u) {
    let row = n % ${side}u;
    let column = n / ${side}u;
    ${inTile}
    if (i${dimension} < P.extent${dimension} && i${last} < P.extent${last}) {
      tile[column * TILE_ROW + row] = ${name}_at(${at});
    }
  }
  workgroupBarrier();
  let row = lane / ${side / 4}u;
  let first_column = lane % ${side / 4}u * 4u;
  if (first${dimension} + row < P.extent${dimension} && first${last} + first_column < P.extent${last}) {
    let count = min(4u, P.extent${last} - first${last} - first_column);
    var at = vec4u();
    var values = ${four}();
    for (var c = 0u; c < count; c++) {
      let column = first_column + c;
      ${inTile}
      let element: ${one} = value_of(${[...indices, ...others].join(', ')});
      at[c] = ${result}_element(${at});
      values[c] = element;
    }
    ${result}_store4(at, count, values);
  }`,
  });
  return { kernels: [kernel], footprints };
}

import { convert, elementFormat } from '../codegen/formats/element-format.ts';
import { kernelSpec } from '../codegen/kernel-spec.ts';
import { u32Uniforms } from '../codegen/shader-part.ts';
import { divided } from './access/index-space.ts';
import type { PrimitiveKernels, PrimitiveTensors } from './access/primitive-tensors.ts';
import { readInSpace, writeInSpace } from './access/tensor-access.ts';

const lanes = 64;
/**
 * The number of output rows that a workgroup sums: as many as fit into half of the workgroup memory that
 * every device has.
 */
const tileRows = 32;

/**
 * A workgroup computes the sums of a tile of rows and 64 columns, and reads all indices in order. Each
 * invocation has one column, so no two invocations add to the same element, and every run gives the same
 * bits.
 */
export function scatterAddKernels({ inputs, outputs }: PrimitiveTensors): PrimitiveKernels {
  const [indices, updates] = inputs;
  const [output] = outputs;
  const [rows, width] = output.shape;
  const tiles = Math.ceil(width / lanes);
  const update = convert('x1_at(first + n, column)', elementFormat(updates.dtype).type, 'f32');
  const space = { extents: output.shape, steps: { y0: output.strides } };
  const { groups, footprints } = divided(space, tileRows, rows);
  const kernel = kernelSpec({
    name: 'scatter add',
    groups: { ...groups, workgroups: tiles },
    workgroupSize: lanes,
    parts: [
      { uniforms: u32Uniforms({ rows, width, count: indices.shape[0], tiles }) },
      readInSpace('x0', indices, indices.strides, null),
      readInSpace('x1', updates, updates.strides, null),
      writeInSpace('y0', output, output.strides, 'each', 'f32'),
    ],
    // `tile_rows`: the row in the tile of each index; too large for an index outside. u32 indices above 2^31
    // are read as negative numbers, which are out of range too.
    declarations: `var<workgroup> sums: array<f32, ${tileRows * lanes}>;
var<workgroup> tile_rows: array<u32, ${lanes}>;
var<workgroup> hits: atomic<u32>;`,
    body: `  let first_row = group / P.tiles * ${tileRows}u;
  let rows_here = min(${tileRows}u, P.rows - first_row);
  let column = group % P.tiles * ${lanes}u + lane;
  for (var first = 0u; first < P.count; first += ${lanes}u) {
    var own = 0xffffffffu;
    if (first + lane < P.count) {
      own = bitcast<u32>(x0_at(first + lane)) - first_row;
    }
    tile_rows[lane] = own;
    if (own < rows_here) {
      atomicAdd(&hits, 1u);
    }
    workgroupBarrier();
    let hit = atomicLoad(&hits) > 0u;
    if (hit && column < P.width) {
      for (var n = 0u; n < ${lanes}u; n++) {
        if (tile_rows[n] < rows_here) {
          sums[tile_rows[n] * ${lanes}u + lane] += ${update};
        }
      }
    }
    workgroupBarrier();
    if (lane == 0u) {
      atomicStore(&hits, 0u);
    }
    workgroupBarrier();
  }
  if (column < P.width) {
    for (var row = 0u; row < rows_here; row++) {
      y0_store4(vec4u(y0_element(first_row + row, column)), 1u, vec4f(sums[row * ${lanes}u + lane]));
    }
  }`,
  });
  return { kernels: [kernel], footprints };
}

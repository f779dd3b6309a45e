import { contiguousStrides, type TensorDesc } from '@tilewise/core';
import { input, type ReducePrimitive, type RowsPrimitive, reduced } from '@tilewise/core/primitive';
import { boundForWriting, renameTensors } from '../../codegen/kernel-spec.ts';
import { gatheredTensor } from '../../codegen/shader-part.ts';
import { isCpu } from '../../device/capabilities/broadcasting.ts';
import { outputName, type PrimitiveKernels, type PrimitiveTensors } from '../access/primitive-tensors.ts';
import { longSlice } from './lane-columns.ts';
import { rowsKernel } from './rows.ts';
import { rowsWork } from './rows-work.ts';

const partials = 'workspace.partials';

/**
 * A reduction: the lanes of a column read the elements of a result in parallel, and a tree combines their
 * partial results. Few long rows are split into parts, whose results a second kernel combines. The
 * order is the same in every run.
 */
export function reduceKernels(primitive: ReducePrimitive, tensors: PrimitiveTensors): PrimitiveKernels {
  const rows = asRows(primitive);
  const work = rowsWork(rows, tensors);
  const { groups, depth, results, lanes, footprints } = work;
  // Few long rows would leave most of a device idle.
  const enough = isCpu(tensors.capabilities) ? 4 : 128;
  const stepsPerLane = Math.ceil(depth / lanes.length);
  if (groups.tiles >= enough || stepsPerLane <= 2 * longSlice)
    return { kernels: [rowsKernel(rows, tensors, work)], footprints };
  const parts = Math.min(Math.ceil(enough / groups.tiles), Math.floor(stepsPerLane / longSlice));
  const { op, result } = primitive;
  const [{ dtype, shape, strides }] = tensors.outputs;
  const domain = [parts, ...shape];
  const inParts = asRows({ ...primitive, result: reduced });
  const toPartials = { ...tensors, outputs: [dense(shape)] };
  const ofParts = asRows({ kind: 'reduce', op, result, element: input(0), axes: [0], domain });
  const output = { dtype, shape: [1, ...shape], strides: [0, ...strides] };
  const fromPartials = { ...tensors, inputs: [dense(domain)], outputs: [output] };
  const first = rowsKernel(inParts, toPartials, rowsWork(inParts, toPartials), parts);
  const second = rowsKernel(ofParts, fromPartials, rowsWork(ofParts, fromPartials));
  return {
    kernels: [
      // Gathered tensors are in the buffer of the partial results.
      boundForWriting(renameTensors(first, { [outputName(0)]: partials }), [gatheredTensor]),
      renameTensors(second, { x0: partials }),
    ],
    workspace: { [partials]: parts * results },
  };
}

const asRows = ({ domain, axes, ...reduction }: ReducePrimitive): RowsPrimitive => ({
  ...{ kind: 'rows', domain, axes },
  reductions: [reduction],
  outputs: [0],
});

const dense = (shape: readonly number[]): TensorDesc => ({
  ...{ dtype: 'f32', shape, strides: contiguousStrides(shape) },
});

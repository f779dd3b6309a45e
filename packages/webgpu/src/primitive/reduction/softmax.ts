import { elementCount } from '@tilewise/core';
import type { SoftmaxPrimitive } from '@tilewise/core/primitive';
import { lowest } from '../../codegen/formats/float-bits.ts';
import { type KernelSpec, kernelSpec } from '../../codegen/kernel-spec.ts';
import { u32Uniforms } from '../../codegen/shader-part.ts';
import { isCpu } from '../../device/capabilities/broadcasting.ts';
import {
  type DividedSpace,
  divided,
  type IndexSpace,
  indexNames,
  indexSpace,
  unravelIndex,
} from '../access/index-space.ts';
import { outputName, type PrimitiveKernels, type PrimitiveTensors } from '../access/primitive-tensors.ts';
import { isVectorised, readInSpace, writeInSpace } from '../access/tensor-access.ts';
import { type LaneColumns, laneColumns } from './lane-columns.ts';

/** The bits of values for which WGSL has no literals. */
const minusInfinity = '0xff800000u';
const notANumber = '0x7fc00000u';

/** Softmax of the rows along an axis. */
export function softmaxKernels(primitive: SoftmaxPrimitive, tensors: PrimitiveTensors): PrimitiveKernels {
  const work = softmaxWork(primitive, tensors);
  return { kernels: [softmaxKernel(primitive, tensors, work)], footprints: work.footprints };
}

/** The rows of a softmax, and how they are divided among workgroups. */
interface SoftmaxWork extends DividedSpace {
  /** The positions of the rows. */
  readonly kept: IndexSpace;
  /** The strides of the input and of the result along the dimensions of `kept`, and then along a row. */
  readonly steps: Readonly<Record<'x0' | 'y0', readonly number[]>>;
  /** The number of rows. */
  readonly rows: number;
  /** The number of elements of a row. */
  readonly width: number;
  readonly lanes: LaneColumns;
  /** Whether a lane reads and writes four elements at once. */
  readonly four: boolean;
}

function softmaxWork(
  { axis }: SoftmaxPrimitive,
  { inputs, outputs, unaligned, capabilities }: PrimitiveTensors,
): SoftmaxWork {
  const [source] = inputs;
  const [output, stats] = outputs;
  const withoutAxis = (list: readonly number[]): number[] => list.filter((_, d) => d !== axis);
  const kept = indexSpace(
    withoutAxis(source.shape),
    {
      x0: withoutAxis(source.strides),
      y0: withoutAxis(output.strides),
      ...(stats && { y1: withoutAxis(stats.strides) }),
    },
    'x0',
  );
  const width = source.shape[axis];
  const rows = elementCount(kept.extents);
  const { x0, y0, ...others } = kept.steps;
  const steps = { x0: [...x0, source.strides[axis]], y0: [...y0, output.strides[axis]] };
  const four =
    width % 4 === 0 &&
    isVectorised(steps.x0, unaligned.has('x0')) &&
    isVectorised(steps.y0, unaligned.has('y0'));
  const lanes = laneColumns({
    ...{ results: rows, depth: width, onCpu: isCpu(capabilities) },
    ...{ keptStep: x0.at(-1) ?? 0, reducedStep: source.strides[axis] },
  });
  const space = { extents: [...kept.extents, width], steps: { ...steps, ...others } };
  return { kept, steps, rows, width, lanes, four, ...divided(space, lanes.columns, rows) };
}

/**
 * The lanes of a column pass over a row in parallel, and keep its maximum and the sum of exponentials so far;
 * a tree combines these, and a second pass over the row computes the results. Several short rows share a
 * workgroup.
 */
function softmaxKernel(
  { log, mode }: SoftmaxPrimitive,
  { inputs: [source], outputs: [output, stats] }: PrimitiveTensors,
  { kept, steps, rows, width, lanes, four, groups }: SoftmaxWork,
): KernelSpec {
  const { columns, length } = lanes;
  const rank = kept.extents.length;
  const row = indexNames(rank);
  const at = [...row, 'i'].join(', ');
  const step = four ? 4 : 1;
  const loop = (
    body: string,
  ): string => `for (var i = slice * ${step}u; i < P.width; i += ${length * step}u) {
      ${body}
    }`;
  // Four numbers of a row, or one number and three that do not contribute, as −Infinity does. Arithmetic gets
  // the lowest finite number instead of −Infinity; a row may contain both.
  const values = `let bits = ${four ? `bitcast<vec4u>(x0_at4(${at}))` : `vec4u(bitcast<u32>(x0_at(${at})), vec3u(${minusInfinity}))`};
let masked = bits == vec4u(${minusInfinity});
let x = select(bitcast<vec4f>(bits), vec4f(${lowest}), masked);`;
  const result = log
    ? `bitcast<vec4f>(select(bitcast<vec4u>((x - vec4f(max_)) - vec4f(log(sum))), vec4u(${minusInfinity}), masked))`
    : 'select(exp(x - vec4f(max_)) / vec4f(sum), vec4f(), masked)';
  const dead = mode === 'inf-as-zero' ? '0u' : notANumber;
  return kernelSpec({
    name: 'softmax',
    groups,
    workgroupSize: columns * length,
    parts: [
      { uniforms: [...u32Uniforms({ rows, width }), ...u32Uniforms(kept.extents, 'extent')] },
      readInSpace('x0', source, steps.x0, four ? 'vector' : null),
      writeInSpace('y0', output, steps.y0, four ? 'vector' : 'each', 'f32'),
      ...(stats ? [writeInSpace(outputName(1), stats, kept.steps.y1, 'each', 'f32')] : []),
    ],
    // `combined` joins the maxima and sums of exponentials of two parts.
    declarations: `var<workgroup> partials: array<vec2f, ${columns * length}>;

fn combined(a: vec2f, b: vec2f) -> vec2f {
  let m = max(a.x, b.x);
  return vec2f(m, a.y * exp(a.x - m) + b.y * exp(b.x - m));
}`,
    body: `${lanes.declare}
  let position = group * ${columns}u + column;
  var found = vec2f(${lowest}, 0.0);
  if (position < P.rows) {
    ${unravelIndex('position', rank)}
    ${loop(`${values}
let m = max(found.x, max(max(x.x, x.y), max(x.z, x.w)));
let e = select(exp(x - vec4f(m)), vec4f(), masked);
found = vec2f(m, found.y * exp(found.x - m) + dot(e, vec4f(1.0)));`)}
  }
  ${lanes.tree('partials', 'found', (a, b) => `combined(${a}, ${b})`)}
  ${length > 1 ? `found = partials[column * ${length}u];` : ''}
  if (position < P.rows) {
    ${unravelIndex('position', rank)}
    let max_ = found.x;
    let sum = found.y;
    let is_dead = sum == 0.0;
    ${loop(`${values}
let y = select(bitcast<vec4u>(${result}), vec4u(${dead}), is_dead);
y0_store4(vec4u(y0_element(${at})), ${step}u, bitcast<vec4f>(y));`)}
    ${
      stats
        ? `if (slice == 0u) {
      let y = select(bitcast<u32>(max_ + log(sum)), ${dead}, is_dead);
      y1_store4(vec4u(y1_element(${row.join(', ')})), 1u, vec4f(bitcast<f32>(y)));
    }`
        : ''
    }
  }`,
  });
}

import { elementCount } from '@tilewise/core';
import type { SoftmaxPrimitive } from '@tilewise/core/primitive';
import { lowest } from '../../codegen/formats/float-bits.ts';
import { kernelSpec } from '../../codegen/kernel-spec.ts';
import { u32Uniforms } from '../../codegen/shader-part.ts';
import { isCpu } from '../../device/capabilities/broadcasting.ts';
import { divided, indexNames, indexSpace, unravelIndex } from '../access/index-space.ts';
import { outputName, type PrimitiveKernels, type PrimitiveTensors } from '../access/primitive-tensors.ts';
import { isVectorised, readInSpace, type Writing, writeInSpace } from '../access/tensor-access.ts';
import { laneColumns } from './lane-columns.ts';

/** The bits of values for which WGSL has no literals. */
const minusInfinity = '0xff800000u';
const notANumber = '0x7fc00000u';

/**
 * Softmax of the rows along an axis: the lanes of a column pass over a row in parallel, and keep its maximum
 * and the sum of exponentials so far; a tree combines these, and a second pass over the row computes
 * the results. Several short rows share a workgroup.
 */
export function softmaxKernels(
  { axis, log, mode }: SoftmaxPrimitive,
  { inputs, outputs, unaligned, capabilities }: PrimitiveTensors,
): PrimitiveKernels {
  const [source] = inputs;
  const [output, stats] = outputs;
  const dims = source.shape.map((_, d) => d).filter(d => d !== axis);
  const along = (strides: readonly number[]): number[] => dims.map(d => strides[d]);
  const kept = indexSpace(
    along(source.shape),
    {
      x0: along(source.strides),
      y0: along(output.strides),
      ...(stats && { y1: along(stats.strides) }),
    },
    'x0',
    false,
  );
  const width = source.shape[axis];
  const rows = elementCount(kept.extents);
  const { x0, y0, ...others } = kept.steps;
  const space = {
    extents: [...kept.extents, width],
    steps: { x0: [...x0, source.strides[axis]], y0: [...y0, output.strides[axis]], ...others },
  };
  const { steps } = space;
  const four =
    width % 4 === 0 &&
    isVectorised(steps.x0, unaligned.has('x0')) &&
    isVectorised(steps.y0, unaligned.has('y0'));
  const writing: Writing = four ? 'vector' : 'each';
  const lanes = laneColumns({
    ...{ results: rows, depth: width, onCpu: isCpu(capabilities) },
    ...{ keptStep: x0.at(-1) ?? 0, reducedStep: source.strides[axis] },
  });
  const { columns, length } = lanes;
  const { groups, footprints } = divided(space, columns, rows);
  const rank = kept.extents.length;
  const row = indexNames(rank);
  const at = [...row, 'i'].join(', ');
  const stride = four ? length * 4 : length;
  const loop = (
    body: string,
  ): string => `for (var i = slice * ${stride / length}u; i < P.width; i += ${stride}u) {
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
  const kernel = kernelSpec({
    name: 'softmax',
    groups,
    workgroupSize: columns * length,
    parts: [
      { uniforms: [...u32Uniforms({ rows, width }), ...u32Uniforms(kept.extents, 'extent')] },
      readInSpace('x0', source, steps.x0, four ? 'vector' : null),
      writeInSpace('y0', output, steps.y0, writing, 'f32'),
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
y0_store4(vec4u(y0_element(${at})), ${four ? 4 : 1}u, bitcast<vec4f>(y));`)}
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
  return { kernels: [kernel], footprints };
}

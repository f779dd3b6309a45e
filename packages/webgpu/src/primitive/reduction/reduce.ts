import type { TensorDesc } from '@tilewise/core';
import { type Expr, exprTools } from '@tilewise/core/expr';
import { input, type ReducePrimitive, reduced } from '@tilewise/core/primitive';
import { unlimitedBudget } from '../../codegen/binding-pressure.ts';
import { convert, wgslTypes } from '../../codegen/formats/element-format.ts';
import { type KernelSpec, kernelSpec, renameTensors } from '../../codegen/kernel-spec.ts';
import type { ShaderPart } from '../../codegen/shader-part.ts';
import { isCpu } from '../../device/broadcasting.ts';
import {
  extentUniforms,
  indented,
  indexNames,
  placesIn,
  splitPlace,
  wholeUniforms,
} from '../access/index-space.ts';
import { bindingPressureOf, isVectorised, writePlaces } from '../access/tensor-access.ts';
import { expressionReads, functionsFor, inputsByName, placedExpression } from '../map/placed-expression.ts';
import { outputName, type PrimitiveKernels, type PrimitiveTensors } from '../primitive-kernels.ts';
import { type ReductionSpaces, reductionSpaces, workloadOf } from './reduction-spaces.ts';
import { longStrand, type Strands, strandsOf } from './strands.ts';

type Operator = ReducePrimitive['op'];

/** Where a reduction starts, and how two values become one. */
export const operators: Readonly<
  Record<Operator, { start: number; join: (a: string, b: string) => string }>
> = {
  sum: { start: 0, join: (a, b) => `${a} + ${b}` },
  prod: { start: 1, join: (a, b) => `${a} * ${b}` },
  max: { start: -Infinity, join: (a, b) => `max(${a}, ${b})` },
  min: { start: Infinity, join: (a, b) => `min(${a}, ${b})` },
};

const partials = 'workspace.partials';

/**
 * Few long rows would leave most of a device idle: with fewer workgroups than this they are cut into parts.
 */
const enoughGroups = { gpu: 128, cpu: 4 };

/**
 * A reduction: strands of invocations go through the elements of each result side by side, and a tree joins
 * what they find. Few long rows are cut into parts, whose results a second kernel joins. In every run the
 * order is the same.
 */
export function reduceKernels(primitive: ReducePrimitive, tensors: PrimitiveTensors): PrimitiveKernels {
  const { inputs, outputs, unaligned, capabilities } = tensors;
  const { op, result } = primitive;
  const enough = enoughGroups[isCpu(capabilities) ? 'cpu' : 'gpu'];
  const [output] = outputs;
  const { domain, axes, element } = primitive;
  const spaces = reductionSpaces(domain, axes, [element], tensors);
  const { kept } = spaces;
  const workload = workloadOf(spaces, capabilities);
  const { places: count, depth } = workload;
  const strands = strandsOf(workload);
  const groups = Math.ceil(count / strands.columns);
  const stepsPerStrand = Math.ceil(depth / strands.length);
  const parts =
    groups < enough && stepsPerStrand > 2 * longStrand
      ? Math.min(Math.ceil(enough / groups), Math.floor(stepsPerStrand / longStrand))
      : 1;
  const named = inputsByName(inputs);
  const { here, elsewhere } = expressionReads(primitive.element);
  const bindingPressure = bindingPressureOf([...new Set([...here, ...elsewhere]), outputName(0)], tensors);
  if (parts === 1) {
    return {
      kernels: [
        reduceKernel({ primitive, spaces, strands, parts, named, output, unaligned, bindingPressure }),
      ],
    };
  }
  const dense: TensorDesc = { dtype: 'f32', shape: [parts, count], strides: [count, 1] };
  const first = reduceKernel({
    primitive: { ...primitive, result: reduced },
    spaces: { ...spaces, kept: { ...kept, steps: { ...kept.steps, ...denseSteps(kept.extents) } } },
    ...{ strands, parts, named, output: dense, unaligned, bindingPressure },
  });
  const joining: ReducePrimitive = {
    ...{ kind: 'reduce', op, result, element: input(0), axes: [0], domain: [parts, ...kept.extents] },
  };
  const joined: TensorDesc = {
    dtype: output.dtype,
    shape: [1, ...kept.extents],
    strides: [0, ...kept.steps[outputName(0)]],
  };
  const rows: TensorDesc = {
    dtype: 'f32',
    shape: joining.domain,
    strides: [count, ...(denseSteps(kept.extents)[outputName(0)] ?? [])],
  };
  const last = { ...tensors, inputs: [rows], outputs: [joined] };
  const lastSpaces = reductionSpaces(joining.domain, joining.axes, [joining.element], last);
  const second = reduceKernel({
    ...{ primitive: joining, spaces: lastSpaces, parts: 1, named: { x0: rows }, output: joined, unaligned },
    bindingPressure: { isOverBudget: false, budget: unlimitedBudget },
    strands: strandsOf(workloadOf(lastSpaces, capabilities)),
  });
  return {
    kernels: [renameTensors(first, { [outputName(0)]: partials }), renameTensors(second, { x0: partials })],
    workspace: { [partials]: parts * count },
  };
}

/** Steps of the result through a dense tensor of these extents. */
function denseSteps(extents: readonly number[]): Record<string, number[]> {
  return {
    [outputName(0)]: extents.map((_, d) => extents.slice(d + 1).reduce((n, extent) => n * extent, 1)),
  };
}

interface ReduceKernel {
  readonly primitive: ReducePrimitive;
  readonly spaces: ReductionSpaces;
  readonly strands: Strands;
  readonly parts: number;
  readonly named: Readonly<Record<string, TensorDesc>>;
  readonly output: TensorDesc;
  readonly unaligned: ReadonlySet<string>;
  readonly bindingPressure: ReturnType<typeof bindingPressureOf>;
}

function reduceKernel(kernel: ReduceKernel): KernelSpec {
  const { primitive, spaces, strands, parts, named, output, unaligned, bindingPressure } = kernel;
  const { isOverBudget, budget } = bindingPressure;
  const { op, element, result } = primitive;
  const { kept, joined, space } = spaces;
  const [places, depth] = [placesIn(kept), placesIn(joined)];
  const { join, start } = operators[op];
  const { here } = expressionReads(element);
  const name = outputName(0);
  const four =
    strands.along === 'joined' &&
    (joined.extents.at(-1) ?? 1) % 4 === 0 &&
    !isOverBudget &&
    here.some(input => isVectorised(space.steps[input], unaligned.has(input)));
  const width = four ? 4 : 1;
  const keptRank = kept.extents.length;
  const at = indexNames(space.extents.length).join(', ');
  const groups = Math.ceil(places / strands.columns);
  const partLength = Math.ceil(depth / parts / (strands.length * width)) * strands.length * width;
  const found = four
    ? `let found = value_at4(${at});
      sum = ${join('sum', join(`(${join('found.x', 'found.y')})`, `(${join('found.z', 'found.w')})`))};`
    : `sum = ${join('sum', convert(`value_at(${at})`, element.type, 'f32'))};`;
  return kernelSpec({
    name: parts > 1 ? 'reduce in parts' : 'reduce',
    groups: groups * parts,
    workgroupSize: strands.columns * strands.length,
    parts: [
      {
        uniforms: [
          ...wholeUniforms({ places, depth, column_groups: groups, part_length: partLength }),
          { name: 'start', type: 'f32', value: start },
          ...extentUniforms(space.extents),
        ],
      },
      ...placedExpression({ expr: element, inputs: named, space, four, unaligned, isOverBudget }),
      writePlaces(name, output, kept.steps[name], 'each', result.type),
      resultPart(primitive.result),
    ],
    declarations: `var<workgroup> strands: array<f32, ${strands.columns * strands.length}>;`,
    body: `${strands.declare}
  let place = (group % P.column_groups) * ${strands.columns}u + column;
  let part = group / P.column_groups;
  var sum = P.start;
  if (place < P.places) {
    ${indented(splitPlace('place', keptRank), 4)}
    let end = min((part + 1u) * P.part_length, P.depth);
    for (var n = part * P.part_length + strand * ${width}u; n < end; n += ${strands.length * width}u) {
      ${indented(splitPlace('n', joined.extents.length, keptRank), 6)}
      ${found}
    }
  }
  ${indented(strands.tree('strands', 'sum', join), 2)}
  if (strand == 0u && place < P.places) {
    ${indented(splitPlace('place', keptRank), 4)}
    let to = ${name}_element(${indexNames(keptRank).join(', ')})${parts > 1 ? ' + part * P.places' : ''};
    ${name}_store4(vec4u(to), 1u, ${wgslTypes[result.type].four}(result_of(sum)));
  }`,
    bindingBudget: budget,
  });
}

/** `result_of(reduced)`: what becomes of what was joined. */
export function resultPart(result: Expr, name = 'result_of'): ShaderPart {
  const { statements, value } = exprTools.writeWgsl(result, { variables: {}, load: () => 'reduced' });
  return {
    ...functionsFor([statements, value]),
    code: `fn ${name}(reduced: f32) -> ${wgslTypes[result.type].one} {
  ${[...statements.split('\n').filter(Boolean), `return ${value};`].join('\n  ')}
}`,
  };
}

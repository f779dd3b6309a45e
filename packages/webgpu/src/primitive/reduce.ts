import type { TensorDesc } from '@tilewise/core';
import { type Expr, exprTools } from '@tilewise/core/expr';
import { input, type ReducePrimitive, reduced } from '@tilewise/core/primitive';
import { unlimitedBudget } from '../codegen/binding-pressure.ts';
import { convert, wgslTypes } from '../codegen/formats/element-format.ts';
import { type KernelSpec, kernelSpec, renameTensors } from '../codegen/kernel-spec.ts';
import type { ShaderPart } from '../codegen/shader-part.ts';
import {
  broadcastStrides,
  extentUniforms,
  type IndexSpace,
  indented,
  indexNames,
  indexSpace,
  placesIn,
  splitPlace,
  wholeUniforms,
} from './access/index-space.ts';
import { longStrand, type Strands, strandsOf } from './access/strands.ts';
import { bindingPressureOf, isVectorised, writePlaces } from './access/tensor-access.ts';
import { expressionReads, functionsFor, inputsByName, placedExpression } from './map/placed-expression.ts';
import { outputName, type PrimitiveKernels, type PrimitiveTensors } from './primitive-kernels.ts';

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
const enoughGroups = 128;

/**
 * A reduction: strands of invocations go through the elements of each result side by side, and a tree joins
 * what they find. Few long rows are cut into parts, whose results a second kernel joins. In every run the
 * order is the same.
 */
export function reduceKernels(primitive: ReducePrimitive, tensors: PrimitiveTensors): PrimitiveKernels {
  const { inputs, outputs, unaligned } = tensors;
  const { op, result } = primitive;
  const [output] = outputs;
  const spaces = spacesOf(primitive, inputs, output);
  const { kept, depth } = spaces;
  const strands = strandsOf({ places: placesIn(kept), depth, ...inner(spaces, inputs) });
  const groups = Math.ceil(placesIn(kept) / strands.columns);
  const stepsPerStrand = Math.ceil(depth / strands.length);
  const parts =
    groups < enoughGroups && stepsPerStrand > 2 * longStrand
      ? Math.min(Math.ceil(enoughGroups / groups), Math.floor(stepsPerStrand / longStrand))
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
  const count = placesIn(kept);
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
  const lastSpaces = spacesOf(joining, [rows], joined);
  const second = reduceKernel({
    ...{ primitive: joining, spaces: lastSpaces, parts: 1, named: { x0: rows }, output: joined, unaligned },
    bindingPressure: { isOverBudget: false, budget: unlimitedBudget },
    strands: strandsOf({ places: count, depth: parts, ...inner(lastSpaces, [rows]) }),
  });
  return {
    kernels: [renameTensors(first, { [outputName(0)]: partials }), renameTensors(second, { x0: partials })],
    workspace: { [partials]: parts * count },
  };
}

/** Places that have a result each, and what is joined for each of them. */
interface ReduceSpaces {
  readonly kept: IndexSpace;
  readonly joined: IndexSpace;
  readonly depth: number;
}

function spacesOf(
  { axes, domain, element }: ReducePrimitive,
  inputs: readonly TensorDesc[],
  output: TensorDesc,
): ReduceSpaces {
  const named = inputsByName(inputs);
  const { here, coordinates } = expressionReads(element);
  const dims = domain.map((_, d) => d);
  const [own, summed] = [dims.filter(d => !axes.includes(d)), dims.filter(d => axes.includes(d))];
  const stepsAlong = (dims: readonly number[]): Record<string, number[]> =>
    Object.fromEntries(
      here.map(name => {
        const strides = named[name] ? broadcastStrides(named[name], domain) : domain.map(() => 0);
        return [name, dims.map(d => strides[d])];
      }),
    );
  const result = outputName(0);
  const kept = indexSpace(
    own.map(d => domain[d]),
    { [result]: own.map(d => output.strides[d]), ...stepsAlong(own) },
    result,
    coordinates,
  );
  const joined = indexSpace(
    summed.map(d => domain[d]),
    stepsAlong(summed),
    largestOf(here, named),
    coordinates,
  );
  const dimensions = dimensionsOf(kept, joined, own, summed);
  return { kept: { ...kept, dimensions }, joined, depth: placesIn(joined) };
}

/** By dimension of a domain, the one of the kept and then the joined dimensions that it has become. */
export function dimensionsOf(
  kept: IndexSpace,
  joined: IndexSpace,
  own: readonly number[],
  summed: readonly number[],
): readonly number[] | null {
  const [outer, inner] = [kept.dimensions, joined.dimensions];
  if (!outer || !inner) return null;
  const found: number[] = [];
  own.forEach((d, n) => {
    found[d] = outer[n];
  });
  summed.forEach((d, n) => {
    found[d] = kept.extents.length + inner[n];
  });
  return found;
}

/** The input with the most elements. */
export function largestOf(
  names: readonly string[],
  inputs: Readonly<Record<string, TensorDesc>>,
): string | null {
  const size = (name: string): number => (inputs[name]?.shape ?? []).reduce((n, extent) => n * extent, 1);
  return names.reduce<string | null>((most, name) => (most && size(most) >= size(name) ? most : name), null);
}

/** How the largest input steps along the last dimension of either space. */
function inner(
  { kept, joined }: ReduceSpaces,
  inputs: readonly TensorDesc[],
): { keptStep: number; joinedStep: number } {
  const names = Object.keys(joined.steps);
  const largest = largestOf(names, inputsByName(inputs));
  if (!largest) return { keptStep: 1, joinedStep: 1 };
  return { keptStep: kept.steps[largest].at(-1) ?? 0, joinedStep: joined.steps[largest].at(-1) ?? 0 };
}

/** Steps of the result through a dense tensor of these extents. */
function denseSteps(extents: readonly number[]): Record<string, number[]> {
  return {
    [outputName(0)]: extents.map((_, d) => extents.slice(d + 1).reduce((n, extent) => n * extent, 1)),
  };
}

interface ReduceKernel {
  readonly primitive: ReducePrimitive;
  readonly spaces: ReduceSpaces;
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
  const { kept, joined, depth } = spaces;
  const { join, start } = operators[op];
  const { here } = expressionReads(element);
  const name = outputName(0);
  const four =
    strands.along === 'joined' &&
    (joined.extents.at(-1) ?? 1) % 4 === 0 &&
    !isOverBudget &&
    here.some(input => isVectorised([...kept.steps[input], ...joined.steps[input]], unaligned.has(input)));
  const width = four ? 4 : 1;
  const space: IndexSpace = {
    extents: [...kept.extents, ...joined.extents],
    steps: Object.fromEntries(here.map(input => [input, [...kept.steps[input], ...joined.steps[input]]])),
    dimensions: kept.dimensions,
  };
  const keptRank = kept.extents.length;
  const at = indexNames(space.extents.length).join(', ');
  const places = placesIn(kept);
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

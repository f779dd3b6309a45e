import { elementCount } from '@tilewise/core';
import { type Expr, exprTools } from '@tilewise/core/expr';
import { inputName, type ReducePrimitive, type RowsPrimitive } from '@tilewise/core/primitive';
import { convert, floats4, wgslTypes } from '../../codegen/formats/element-format.ts';
import { type KernelSpec, kernelSpec } from '../../codegen/kernel-spec.ts';
import { type ShaderPart, u32Uniforms } from '../../codegen/shader-part.ts';
import { isCpu } from '../../device/capabilities/broadcasting.ts';
import { type DividedSpace, divided, indexNames, unravelIndex } from '../access/index-space.ts';
import { outputName, type PrimitiveKernels, type PrimitiveTensors } from '../access/primitive-tensors.ts';
import { bindingPressureOf, isVectorised, writeInSpace } from '../access/tensor-access.ts';
import {
  type ExpressionReads,
  expressionReads,
  functionsFor,
  inputsByName,
  spaceExpression,
} from '../map/space-expression.ts';
import { type LaneColumns, laneColumns, type Workload } from './lane-columns.ts';
import { type ReductionSpaces, reductionSpaces } from './reduction-spaces.ts';

/** The initial value of a reduction, and the expression that combines two values. */
const operators: Readonly<
  Record<ReducePrimitive['op'], { start: number; join: (a: string, b: string) => string }>
> = {
  sum: { start: 0, join: (a, b) => `${a} + ${b}` },
  prod: { start: 1, join: (a, b) => `${a} * ${b}` },
  max: { start: -Infinity, join: (a, b) => `max(${a}, ${b})` },
  min: { start: Infinity, join: (a, b) => `min(${a}, ${b})` },
};

/** Reductions and maps of one domain in one kernel. */
export function rowsKernels(primitive: RowsPrimitive, tensors: PrimitiveTensors): PrimitiveKernels {
  const work = rowsWork(primitive, tensors);
  return { kernels: [rowsKernel(primitive, tensors, work)], footprints: work.footprints };
}

/** The work of reductions and maps, and how it is divided among workgroups. */
export interface RowsWork extends Pick<Workload, 'results' | 'depth'>, DividedSpace {
  readonly spaces: ReductionSpaces;
  readonly lanes: LaneColumns;
  /** What each expression reads. */
  readonly reads: readonly ExpressionReads[];
}

export function rowsWork(primitive: RowsPrimitive, tensors: PrimitiveTensors): RowsWork {
  const { domain, axes } = primitive;
  const exprs = [
    ...primitive.reductions.map(({ element }) => element),
    ...primitive.outputs.filter(x => typeof x !== 'number'),
  ];
  const reads = exprs.map(expressionReads);
  const spaces = reductionSpaces(domain, axes, reads, tensors);
  const { kept, reduced, space, main } = spaces;
  const [results, depth] = [elementCount(kept.extents), elementCount(reduced.extents)];
  const lanes = laneColumns({
    results,
    depth,
    keptStep: kept.steps[main].at(-1) ?? 0,
    reducedStep: reduced.steps[main].at(-1) ?? 0,
    onCpu: isCpu(tensors.capabilities),
  });
  const everywhere = reads.flatMap(({ elsewhere }) => elsewhere);
  return { spaces, lanes, results, depth, reads, ...divided(space, lanes.columns, results, everywhere) };
}

/** How the kernel reads and names the values that it computes for some rows. */
interface RowText {
  readonly primitive: RowsPrimitive;
  readonly tensors: PrimitiveTensors;
  readonly work: RowsWork;
  /** Whether an invocation reads four elements at once. */
  readonly four: boolean;
  /** The results of the reductions. */
  readonly resultNames: readonly string[];
  /** The shader parts that the statements need; writing a statement adds its parts. */
  readonly pieces: ShaderPart[];
  /**
   * The value of an expression at the current position; the expression may read the results of the first
   * `count` reductions.
   */
  valueAt(expr: Expr, prefix: string, count: number): string;
  /** A loop that runs statements for each of this invocation's elements of the row. */
  forEachElement(statements: string): string;
}

/**
 * The invocations that share a row pass over it once for all reductions that do not depend on each other,
 * combine their partial results, and pass over it once more for the maps. The order is the same in every run.
 * @param parts the number of parts into which the rows of a single reduction are split. The results of each
 * part are stored after those of the previous part.
 */
export function rowsKernel(
  primitive: RowsPrimitive,
  tensors: PrimitiveTensors,
  work: RowsWork,
  parts = 1,
): KernelSpec {
  const { spaces, lanes, depth, reads, groups } = work;
  const { kept, reduced, space } = spaces;
  const { inputs, outputs, unaligned, inPlace } = tensors;
  const named = inputsByName(inputs);
  const read = reads.flatMap(({ here, elsewhere }) => [...here, ...elsewhere]).filter(name => named[name]);
  const bound = new Set([...read, ...outputs.map((_, n) => outputName(n))]);
  const { isOverBudget, budget } = bindingPressureOf([...bound], tensors);
  // Of several expressions, one could read element by element a tensor that another reads in vectors of four.
  const four =
    reads.length === 1 &&
    lanes.along === 'reduced' &&
    (reduced.extents.at(-1) ?? 1) % 4 === 0 &&
    !isOverBudget &&
    reads[0].here.some(name => isVectorised(space.steps[name], unaligned.has(name)));
  const width = four ? 4 : 1;
  const step = lanes.length * width;
  const rank = kept.extents.length;
  const resultNames = primitive.reductions.map((_, n) => inputName(inputs.length + n));
  const at = indexNames(space.extents.length).join(', ');
  const pieces: ShaderPart[] = [];
  const text: RowText = {
    ...{ primitive, tensors, work, four, resultNames, pieces },
    valueAt(expr, prefix, count) {
      const given = resultNames.slice(0, count);
      const over = { expr, inputs: named, space, four, unaligned, isOverBudget, inPlace };
      pieces.push(...spaceExpression({ ...over, prefix, given }));
      return `${prefix}_at${four ? '4' : ''}(${[at, ...given].join(', ')})`;
    },
    forEachElement: statements => `for (var n = begin; n < end; n += ${step}u) {
    ${unravelIndex('n', reduced.extents.length, rank)}
    ${statements}
  }`,
  };
  const sums = passesOf(primitive, resultNames).map(pass => sumStatements(text, pass));
  const { results, maps, writes } = writeStatements(text, parts > 1 ? ' + part * P.results' : '');
  return kernelSpec({
    name: parts > 1 ? 'reduce in parts' : !maps ? 'reduce' : sums.length > 0 ? 'rows' : 'maps',
    groups: parts > 1 ? groups.tiles * parts : groups,
    workgroupSize: lanes.columns * lanes.length,
    parts: [
      {
        uniforms: [
          ...u32Uniforms({ results: work.results, depth, column_groups: groups.tiles }),
          ...u32Uniforms({ part_length: Math.ceil(depth / parts / step) * step }),
          ...u32Uniforms(space.extents, 'extent'),
        ],
      },
      ...distinct(pieces),
      // Writes come last: if an output overwrites an input, both share one binding.
      ...writes,
    ],
    declarations: `var<workgroup> partials: array<f32, ${lanes.columns * lanes.length}>;`,
    // Lanes beyond the last result meet the others at the barriers, so they compute the last result too.
    body: `${lanes.declare}
  let part = group / P.column_groups;
  let begin = part * P.part_length + slice * ${width}u;
  let end = min((part + 1u) * P.part_length, P.depth);
  let n = group % P.column_groups * ${lanes.columns}u + column;
  let inside = n < P.results;
  let position = min(n, P.results - 1u);
  ${unravelIndex('position', rank)}
  ${sums.join('\n  ')}
  if (inside) {
    ${maps}
    ${results}
  }`,
    bindingBudget: budget,
  });
}

/**
 * One pass over the row for reductions that do not depend on each other, and the expressions of their
 * results.
 */
function sumStatements(text: RowText, pass: readonly number[]): string {
  const { primitive, work, four, resultNames, pieces, valueAt, forEachElement } = text;
  const { lanes } = work;
  const found = pass.map(n => {
    const { op, element } = primitive.reductions[n];
    const { start, join } = operators[op];
    pieces.push({ uniforms: [{ name: `start${n}`, type: 'f32', value: start }] });
    const value = valueAt(element, `element${n}`, pass[0]);
    if (!four) return `sum${n} = ${join(`sum${n}`, convert(value, element.type, 'f32'))};`;
    return `let found = ${floats4(value, element.type)};
sum${n} = ${join(`sum${n}`, join(`(${join('found.x', 'found.y')})`, `(${join('found.z', 'found.w')})`))};`;
  });
  const ends = pass.map(n => {
    const { op, result } = primitive.reductions[n];
    pieces.push(resultPart(result, `result${n}_of`));
    const sum = lanes.length === 1 ? `sum${n}` : `partials[column * ${lanes.length}u]`;
    return `${lanes.tree('partials', `sum${n}`, operators[op].join)}
  let ${resultNames[n]} = result${n}_of(${sum});
  ${lanes.length > 1 ? 'workgroupBarrier();' : ''}`;
  });
  return `${pass.map(n => `var sum${n} = P.start${n};`).join('\n  ')}
  ${forEachElement(found.join('\n'))}
  ${ends.join('\n  ')}`;
}

/**
 * Statements that write the results of reductions, once per row, and those of maps, for each element.
 * @param offset added to the index of a result.
 */
function writeStatements(
  { primitive, tensors, work, resultNames, valueAt, forEachElement }: RowText,
  offset: string,
): { readonly results: string; readonly maps: string; readonly writes: readonly ShaderPart[] } {
  const { kept, space } = work.spaces;
  const { reductions } = primitive;
  const writes: ShaderPart[] = [];
  const values: string[] = [];
  const stores: string[] = [];
  const results: string[] = [];
  for (const [n, output] of primitive.outputs.entries()) {
    const name = outputName(n);
    const isResult = typeof output === 'number';
    const { type } = isResult ? reductions[output].result : output;
    const steps = (isResult ? kept : space).steps[name];
    writes.push(writeInSpace(name, tensors.outputs[n], steps, 'each', type, tensors.inPlace));
    // Values are computed before any is stored, because a store may overwrite what a later expression reads.
    if (!isResult) values.push(`let value${n} = ${valueAt(output, `output${n}`, reductions.length)};`);
    const value = isResult ? resultNames[output] : `value${n}`;
    const element = `${name}_element(${indexNames(steps.length).join(', ')})${offset}`;
    (isResult ? results : stores).push(
      `${name}_store4(vec4u(${element}), 1u, ${wgslTypes[type].four}(${value}));`,
    );
  }
  return {
    writes,
    results: results.length > 0 ? `if (slice == 0u) {\n      ${results.join('\n      ')}\n    }` : '',
    maps: stores.length > 0 ? forEachElement([...values, ...stores].join('\n')) : '',
  };
}

/**
 * The numbers of the reductions in each pass over a row. A reduction that reads the result of another is in a
 * later pass.
 */
function passesOf({ reductions }: RowsPrimitive, resultNames: readonly string[]): readonly number[][] {
  const passes: number[][] = [];
  for (const [n, { element }] of reductions.entries()) {
    const pass = passes.at(-1);
    const { here } = expressionReads(element);
    if (pass && !pass.some(earlier => here.includes(resultNames[earlier]))) pass.push(n);
    else passes.push([n]);
  }
  return passes;
}

/** Removes parts with the same code. */
const distinct = (parts: readonly ShaderPart[]): ShaderPart[] => [
  ...new Map(parts.map(part => [part.code ?? part, part])).values(),
];

/** `name(reduced)`: the result of a reduction, from the reduced value. */
function resultPart(result: Expr, name: string): ShaderPart {
  const { statements, value } = exprTools.writeWgsl(result, { variables: {}, load: () => 'reduced' });
  return {
    ...functionsFor([statements, value]),
    code: `fn ${name}(reduced: f32) -> ${wgslTypes[result.type].one} {
  ${statements}
  return ${value};
}`,
  };
}

import { inputName, type RowsPrimitive } from '@tilewise/core/primitive';
import { type KernelSpec, kernelSpec } from '../../codegen/kernel-spec.ts';
import { type ShaderPart, u32Uniforms } from '../../codegen/shader-part.ts';
import { indexNames, unravelIndex } from '../access/index-space.ts';
import { outputName, type PrimitiveKernels, type PrimitiveTensors } from '../access/primitive-tensors.ts';
import { bindingPressureOf, isVectorised } from '../access/tensor-access.ts';
import { expressionReads, inputsByName, spaceExpression } from '../map/space-expression.ts';
import { type RowText, sumStatements, writeStatements } from './row-statements.ts';
import { type RowsWork, rowsWork } from './rows-work.ts';

/** Reductions and maps of one domain in one kernel. */
export function rowsKernels(primitive: RowsPrimitive, tensors: PrimitiveTensors): PrimitiveKernels {
  const work = rowsWork(primitive, tensors);
  return { kernels: [rowsKernel(primitive, tensors, work)], footprints: work.footprints };
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

import type { Expr } from '@tilewise/core/expr';
import { inputName, type RowsPrimitive } from '@tilewise/core/primitive';
import { convert, wgslTypes } from '../../codegen/formats/element-format.ts';
import { kernelSpec } from '../../codegen/kernel-spec.ts';
import type { ShaderPart } from '../../codegen/shader-part.ts';
import { extentUniforms, indented, indexNames, splitPlace, wholeUniforms } from '../access/index-space.ts';
import { writePlaces } from '../access/tensor-access.ts';
import { inputsByName, placedExpression } from '../map/placed-expression.ts';
import { outputName, type PrimitiveKernels, type PrimitiveTensors } from '../primitive-kernels.ts';
import { operators, resultPart } from './reduce.ts';
import { reductionSpaces, workloadOf } from './reduction-spaces.ts';
import { type Strands, strandsOf } from './strands.ts';

/**
 * Reductions and maps of one domain in one kernel. The invocations that share a row go through the row once
 * for each reduction, join what they found, and go through it once more for the maps. In every run the order
 * is the same.
 */
export function rowsKernels(primitive: RowsPrimitive, tensors: PrimitiveTensors): PrimitiveKernels {
  const { reductions, outputs: wanted } = primitive;
  const { inputs, outputs, unaligned, inPlace } = tensors;
  const named = inputsByName(inputs);
  const { domain, axes } = primitive;
  const exprs = [...reductions.map(({ element }) => element), ...wanted.filter(x => typeof x !== 'number')];
  const spaces = reductionSpaces(domain, axes, exprs, tensors);
  const { kept, joined, space } = spaces;
  const workload = workloadOf(spaces, tensors.capabilities);
  const [{ places, depth }, rank] = [workload, kept.extents.length];
  const strands = strandsOf(workload);
  const resultNames = reductions.map((_, n) => inputName(inputs.length + n));
  const at = indexNames(space.extents.length).join(', ');
  const parts: ShaderPart[] = [];
  /** The value of an expression at the place at hand, which may read the results of `count` reductions. */
  const valueAt = (expr: Expr, prefix: string, count: number): string => {
    const given = resultNames.slice(0, count);
    const placed = { expr, inputs: named, space, four: false, unaligned, isOverBudget: false, inPlace };
    parts.push(...placedExpression({ ...placed, prefix, given }));
    return `${prefix}_at(${[at, ...given].join(', ')})`;
  };
  /** Statements for each of the elements of the row that this invocation has. */
  const forEachElement = (
    statements: string,
  ): string => `for (var n = strand; n < P.depth; n += ${strands.length}u) {
    ${indented(splitPlace('n', joined.extents.length, rank), 4)}
    ${indented(statements, 4)}
  }`;

  const sums = reductions.map(({ op, element, result }, n) => {
    const { join } = operators[op];
    const value = convert(valueAt(element, `element${n}`, n), element.type, 'f32');
    parts.push(resultPart(result, `result${n}_of`), {
      uniforms: [{ name: `start${n}`, type: 'f32', value: operators[op].start }],
    });
    return `var sum${n} = P.start${n};
  ${forEachElement(`sum${n} = ${join(`sum${n}`, value)};`)}
  ${indented(strands.tree('strands', `sum${n}`, join), 2)}
  let ${resultNames[n]} = result${n}_of(${joinedValue(strands, `sum${n}`)});
  ${strands.length > 1 ? 'workgroupBarrier();' : ''}`;
  });
  const writes: ShaderPart[] = [];
  const values: string[] = [];
  const stores: string[] = [];
  const results: string[] = [];
  for (const [n, output] of wanted.entries()) {
    const name = outputName(n);
    const isResult = typeof output === 'number';
    const type = isResult ? 'f32' : output.type;
    const steps = isResult ? kept.steps[name] : space.steps[name];
    writes.push(writePlaces(name, outputs[n], steps, 'each', type, inPlace));
    // What is stored may lie where an expression behind it reads.
    if (!isResult) values.push(`let value${n} = ${valueAt(output, `output${n}`, reductions.length)};`);
    const value = isResult ? resultNames[output] : `value${n}`;
    const element = `${name}_element(${indexNames(steps.length).join(', ')})`;
    (isResult ? results : stores).push(
      `${name}_store4(vec4u(${element}), 1u, ${wgslTypes[type].four}(${value}));`,
    );
  }
  const kernel = kernelSpec({
    name: reductions.length > 0 ? 'rows' : 'maps',
    groups: Math.ceil(places / strands.columns),
    workgroupSize: strands.columns * strands.length,
    parts: [
      {
        uniforms: [...wholeUniforms({ places, depth }), ...extentUniforms(space.extents)],
      },
      ...distinct(parts),
      ...writes,
    ],
    declarations: `var<workgroup> strands: array<f32, ${strands.columns * strands.length}>;`,
    body: `${strands.declare}
  let own_place = group * ${strands.columns}u + column;
  let is_inside = own_place < P.places;
  // All invocations meet at the barriers.
  let place = min(own_place, P.places - 1u);
  ${indented(splitPlace('place', rank), 2)}
  ${sums.join('\n  ')}
  if (is_inside) {
    ${stores.length > 0 ? indented(forEachElement([...values, ...stores].join('\n')), 2) : ''}
    ${results.length > 0 ? `if (strand == 0u) {\n      ${results.join('\n      ')}\n    }` : ''}
  }`,
  });
  return { kernels: [kernel] };
}

/** The result of the tree, for every invocation of a column. */
const joinedValue = ({ length }: Strands, own: string): string =>
  length === 1 ? own : `strands[column * ${length}u]`;

/** Parts without those that are there already. */
function distinct(parts: readonly ShaderPart[]): ShaderPart[] {
  const known = new Set<string | undefined>();
  return parts.filter(({ code }) => {
    if (code === undefined || !known.has(code)) {
      known.add(code);
      return true;
    }
    return false;
  });
}

import { type Expr, exprTools } from '@tilewise/core/expr';
import type { ReducePrimitive, RowsPrimitive } from '@tilewise/core/primitive';
import { convert, floats4, wgslTypes } from '../../codegen/formats/element-format.ts';
import type { ShaderPart } from '../../codegen/shader-part.ts';
import { indexNames } from '../access/index-space.ts';
import { outputName, type PrimitiveTensors } from '../access/primitive-tensors.ts';
import { writeInSpace } from '../access/tensor-access.ts';
import { functionsFor } from '../map/space-expression.ts';
import type { RowsWork } from './rows-work.ts';

/** The initial value of a reduction, and the expression that combines two values. */
const operators: Readonly<
  Record<ReducePrimitive['op'], { start: number; join: (a: string, b: string) => string }>
> = {
  sum: { start: 0, join: (a, b) => `${a} + ${b}` },
  prod: { start: 1, join: (a, b) => `${a} * ${b}` },
  max: { start: -Infinity, join: (a, b) => `max(${a}, ${b})` },
  min: { start: Infinity, join: (a, b) => `min(${a}, ${b})` },
};

/** How the kernel reads and names the values that it computes for some rows. */
export interface RowText {
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
 * One pass over the row for reductions that do not depend on each other, and the expressions of their
 * results.
 */
export function sumStatements(text: RowText, pass: readonly number[]): string {
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
export function writeStatements(
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

import { InvalidArgumentError, type TensorDesc } from '@tilewise/core';
import { type Expr, exprTools, loads } from '@tilewise/core/expr';
import { inputName } from '@tilewise/core/primitive';
import { convert, elementFormat, wgslTypes } from '../../codegen/formats/element-format.ts';
import type { ShaderPart } from '../../codegen/shader-part.ts';
import { type IndexSpace, indexNames } from '../access/index-space.ts';
import type { InPlaceNames } from '../access/primitive-tensors.ts';
import { isVectorised, type Reading, readAnywhere, readInSpace } from '../access/tensor-access.ts';

/** The values that an expression reads. */
export interface ExpressionReads {
  /**
   * The names of the inputs that the expression reads at its own position, and of those that it reads at
   * other positions.
   */
  readonly here: readonly string[];
  readonly elsewhere: readonly string[];
  /** Whether it reads its coordinates. */
  readonly coordinates: boolean;
}

/** Lists the values that an expression reads; the expression is written as in `element.ts` of core. */
export function expressionReads(expr: Expr): ExpressionReads {
  const all = loads(expr);
  const names = (isHere: boolean): string[] => [
    ...new Set(
      all
        .filter(({ name, index }) => /^x\d+$/.test(name) && (index.length === 0) === isHere)
        .map(({ name }) => name),
    ),
  ];
  return {
    here: names(true),
    elsewhere: names(false),
    coordinates: all.some(({ name }) => name === 'coordinate'),
  };
}

/** The inputs by the names that they have in expressions. */
export function inputsByName(inputs: readonly TensorDesc[]): Readonly<Record<string, TensorDesc>> {
  return Object.fromEntries(inputs.map((desc, n) => [inputName(n), desc]));
}

/** An expression that is evaluated over a space. */
export interface SpaceExpression {
  readonly expr: Expr;
  readonly inputs: Readonly<Record<string, TensorDesc>>;
  readonly space: IndexSpace;
  /**
   * Whether four positions along the last dimension are computed at once. The length of this dimension must
   * then be a multiple of four.
   */
  readonly four: boolean;
  readonly unaligned: ReadonlySet<string>;
  /** Whether there are more tensors than the device binds. */
  readonly isOverBudget: boolean;
  readonly inPlace?: InPlaceNames | undefined;
  /** The prefix of the functions' names. Default `value`. */
  readonly prefix?: string;
  /** The names of inputs whose values, f32 numbers, are passed to the functions after the indices. */
  readonly given?: readonly string[];
}

/**
 * `value_at(i0, i1…)`: the value of an expression at a position; with `four`, `value_at4(i0, i1…)`: the
 * values at this and the next three positions along the last dimension.
 */
export function spaceExpression({
  expr,
  inputs,
  space,
  four,
  unaligned,
  isOverBudget,
  inPlace,
  prefix = 'value',
  given = [],
}: SpaceExpression): ShaderPart[] {
  const reads = expressionReads(expr);
  const { elsewhere } = reads;
  const here = reads.here.filter(name => !given.includes(name));
  const rank = space.extents.length;
  const indices = indexNames(rank);
  const declared = [...indices.map(index => `${index}: u32`), ...given.map(name => `${name}: f32`)];
  const read = here.map(name => `${name}: ${wgslTypes[typeOf(inputs, name)].one}`);
  const { statements, value } = exprTools.writeWgsl(expr, {
    variables: {},
    load: (name, index, type) => {
      // The dimension is a constant, which has a suffix in WGSL.
      if (name === 'coordinate') return `i32(i${space.dimensions?.[Number.parseInt(index[0], 10)]})`;
      const found = index.length === 0 ? name : `${name}_pick(${index.join(', ')})`;
      return convert(found, given.includes(name) ? 'f32' : typeOf(inputs, name), type);
    },
  });
  const { one, four: vector } = wgslTypes[expr.type];
  const value1 = `fn ${prefix}_of(${[...declared, ...read].join(', ')}) -> ${one} {
  ${statements}
  return ${value};
}`;
  const at = indices.join(', ');
  const last = rank - 1;
  const each = (['x', 'y', 'z', 'w'] as const).map((component, c) => {
    const position = indices.map((index, d) => (d === last ? `${index} + ${c}u` : index));
    return `${prefix}_of(${[...position, ...given, ...here.map(name => `${name}_4.${component}`)].join(', ')})`;
  });
  const whole = four
    ? `fn ${prefix}_at4(${declared.join(', ')}) -> ${vector} {
${here.map(name => `  let ${name}_4 = ${name}_at4(${at});`).join('\n')}
  return ${vector}(${each.join(', ')});
}`
    : `fn ${prefix}_at(${declared.join(', ')}) -> ${one} {
  return ${prefix}_of(${[...indices, ...given, ...here.map(name => `${name}_at(${at})`)].join(', ')});
}`;
  return [
    ...here.map(name => {
      const home = inPlace?.[name];
      // An input that the output overwrites is bound through the output.
      const isGatherable = isOverBudget && !home;
      // Tensors that are gathered, or also read at other positions, are bound as arrays of single elements.
      const isSingle = isGatherable || elsewhere.includes(name) || unaligned.has(name);
      const steps = space.steps[name];
      const reading = four ? readingOf(steps, isSingle) : null;
      return readInSpace(name, inputs[name], steps, reading, isGatherable, home);
    }),
    ...elsewhere.map(name => readAnywhere(name, inputs[name], isOverBudget)),
    functionsFor([statements, value]),
    { code: `${value1}\n\n${whole}` },
  ];
}

/** The functions that the code of an expression calls, if any. */
export function functionsFor(code: readonly string[]): ShaderPart {
  return code.some(text => text.includes('expr_')) ? { requires: [{ code: exprTools.functionsWgsl }] } : {};
}

function typeOf(inputs: SpaceExpression['inputs'], name: string): keyof typeof wgslTypes {
  const desc = inputs[name];
  if (!desc) {
    throw new InvalidArgumentError('inputs', `has no tensor for '${name}', which the expression reads`);
  }
  return elementFormat(desc.dtype).type;
}

function readingOf(steps: readonly number[], isSingle: boolean): Reading {
  if (steps.at(-1) === 0) return 'same';
  return isVectorised(steps, isSingle) ? 'vector' : 'each';
}

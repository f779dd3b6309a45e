import { exprTools } from '@tilewise/core/expr';
import { convert, elementFormat, wgslTypes } from '../../codegen/formats/element-format.ts';
import { arrayElement } from '../../codegen/formats/storage-format.ts';
import { readBinding } from '../../codegen/formats/tensor-binding.ts';
import { type ShaderPart, u32Uniforms } from '../../codegen/shader-part.ts';
import { functionsFor } from '../map/space-expression.ts';
import type { Matrix } from './operands/matrix.ts';
import { matrixStart } from './operands/matrix-start.ts';
import type { MatMulProblem } from './problem.ts';

/**
 * `result4(index, row, n, x)`: the final values of elements n…n+3 of a row of the product with number `index`
 * in the batch. Without an epilogue, these are the elements themselves. Columns beyond the last one repeat
 * it, and are not stored.
 */
export function epilogueParts({ epilogue, batch }: Pick<MatMulProblem, 'epilogue' | 'batch'>): ShaderPart[] {
  if (!epilogue) return [];
  const { result, product, operands } = epilogue;
  const { statements, value } = exprTools.writeWgsl(result, {
    variables: {},
    load: (name, _, type) => convert(name, typeOf(operands, name), type),
  });
  const read = operands.map(({ name, dtype }) => `${name}: ${wgslTypes[elementFormat(dtype).type].one}`);
  const starts = operands.map(
    ({ name }) => `let ${name}_first = ${name}_start(index) + row * P.${name}_row;`,
  );
  const each = (['x', 'y', 'z', 'w'] as const).map((component, e) => {
    const own = operands.map(
      ({ name }) => `${name}_read(${name}_first + column.${component} * P.${name}_column)`,
    );
    return `result_of(${[`x[${e}]`, ...own].join(', ')})`;
  });
  return [
    ...operands.flatMap(matrix => [matrixStart(matrix, batch), readPart(matrix)]),
    functionsFor([statements, value]),
    {
      code: `fn result_of(${[`${product}: f32`, ...read].join(', ')}) -> f32 {
  ${statements}
  return ${value};
}

fn result4(index: u32, row: u32, n: u32, x: vec4f) -> vec4f {
  let column = min(vec4u(n, n + 1u, n + 2u, n + 3u), vec4u(P.N - 1u));
  ${starts.join('\n  ')}
  return vec4f(${each.join(', ')});
}`,
    },
  ];
}

/** The call of the epilogue on four elements of a row; without an epilogue, the elements themselves. */
export function withEpilogue({ epilogue }: Pick<MatMulProblem, 'epilogue'>, at: string, x: string): string {
  return epilogue ? `result4(${at}, ${x})` : x;
}

function typeOf(operands: readonly Matrix[], name: string): keyof typeof wgslTypes {
  const operand = operands.find(own => own.name === name);
  return operand ? elementFormat(operand.dtype).type : 'f32';
}

/** `NAME_read(at)`: an element of an operand. */
function readPart({ name, dtype, rowStride, columnStride }: Matrix): ShaderPart {
  const format = elementFormat(dtype);
  return {
    bindings: [readBinding(name, format)],
    uniforms: u32Uniforms({ row: rowStride, column: columnStride }, `${name}_`),
    requires: format.requires,
    code: `fn ${name}_read(at: u32) -> ${wgslTypes[format.type].one} {
  return ${format.load(arrayElement(name), 'at')};
}`,
  };
}

import { type ShaderPart, u32Uniforms } from '../../../codegen/shader-part.ts';
import { statements } from '../../../codegen/text.ts';
import type { Matrix } from './matrix.ts';

/**
 * `NAME_start(index)`: the index at which a tensor's matrix with number `index` in the batch starts; the last
 * batch dimension varies fastest.
 */
export function matrixStart({ name, batchStrides }: Matrix, batch: readonly number[]): ShaderPart {
  const steps = batch.map((_, n) => {
    const d = batch.length - 1 - n;
    return `at += rest % P.batch${d} * P.${name}_batch${d};
  rest /= P.batch${d};`;
  });
  return {
    uniforms: [
      ...u32Uniforms({ [`${name}_base`]: { offsetOf: name } }),
      ...u32Uniforms(batch, 'batch'),
      ...u32Uniforms(batchStrides, `${name}_batch`),
    ],
    code: `fn ${name}_start(index: u32) -> u32 {
  ${statements(`var at = P.${name}_base;`, batch.length > 0 && 'var rest = index;', ...steps, 'return at;')}
}`,
  };
}

import type { ShaderPart } from '../../../codegen/shader-part.ts';
import type { Matrix } from '../problem.ts';

/**
 * `NAME_start(index)`: where a tensor's matrix for this place in the batch starts; the last batch dimension
 * runs fastest.
 */
export function matrixStart({ name, batchStrides }: Matrix, batch: readonly number[]): ShaderPart {
  const steps = batch.map((_, n) => {
    const d = batch.length - 1 - n;
    return `at += rest % P.batch${d} * P.${name}_batch${d};
  rest /= P.batch${d};`;
  });
  return {
    uniforms: [
      { name: `${name}_base`, type: 'u32', value: { offsetOf: name } },
      ...batch.map((extent, d) => ({ name: `batch${d}`, type: 'u32', value: extent }) as const),
      ...batchStrides.map(
        (stride, d) => ({ name: `${name}_batch${d}`, type: 'u32', value: stride }) as const,
      ),
    ],
    code: `fn ${name}_start(index: u32) -> u32 {
  var at = P.${name}_base;
  ${batch.length > 0 ? `var rest = index;\n  ${steps.join('\n  ')}` : ''}
  return at;
}`,
  };
}

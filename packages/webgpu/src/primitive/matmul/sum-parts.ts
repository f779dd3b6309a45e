import { elementCount } from '@tilewise/core';
import { invocationIndex, invocations, type KernelSpec, kernelSpec } from '../../codegen/kernel-spec.ts';
import { u32Uniforms } from '../../codegen/shader-part.ts';
import { epilogueParts, withEpilogue } from './epilogue.ts';
import type { Matrix } from './operands/matrix.ts';
import { matrixStart } from './operands/matrix-start.ts';
import type { MatMulProblem } from './problem.ts';
import { resultRows } from './result-rows.ts';

/**
 * The partial results of a problem, f32: one matrix per part for each index of the batch, with rows padded to
 * whole vectors.
 */
export function partialResults({ M, N, batch }: MatMulProblem, parts: number): Matrix {
  const row = Math.ceil(N / 4) * 4;
  const step = (d: number): number => elementCount(batch.slice(d + 1)) * parts * M * row;
  return {
    ...{ name: 'workspace', dtype: 'f32', rowStride: row, columnStride: 1 },
    batchStrides: [...batch.map((_, d) => step(d)), M * row],
  };
}

/**
 * Computes C from the results of all parts, which are added in order; an invocation has one vector of one
 * row.
 */
export function sumPartsKernel(
  problem: MatMulProblem,
  parts: number,
  unaligned: ReadonlySet<string>,
): KernelSpec {
  const { M, N, batch, C } = problem;
  const vectors = Math.ceil(N / 4);
  const size = M * vectors;
  const count = elementCount(batch) * size;
  const body = `
  let n = ${invocationIndex};
  if (n >= P.count) {
    return;
  }
  let index = n / P.size;
  let vector = n % P.size;
  let first = P.workspace_base / 4u + index * P.parts * P.size + vector;
  var sum = vec4f();
  for (var part = 0u; part < P.parts; part++) {
    sum += workspace[first + part * P.size];
  }
  let row = vector / P.vectors;
  let column = vector % P.vectors * 4u;
  ${C.name}_store4(${C.name}_start(index), row, column, ${withEpilogue(problem, 'index, row, column', 'sum')});`;
  return kernelSpec({
    name: 'matmul sum of parts',
    ...invocations(count),
    parts: [
      {
        bindings: [{ name: 'workspace', element: 'vec4f', access: 'read', elementBytes: 4, alignment: 16 }],
        uniforms: u32Uniforms({
          workspace_base: { offsetOf: 'workspace' },
          N,
          parts,
          vectors,
          size,
          count,
        }),
      },
      matrixStart(C, batch),
      ...epilogueParts(problem),
      resultRows(C, N, unaligned),
    ],
    body,
  });
}

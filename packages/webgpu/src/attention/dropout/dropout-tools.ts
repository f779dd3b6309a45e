import type { DropoutTools } from '../config/kernel-config.ts';
import { dropoutPart } from './dropout.ts';
import { dropoutMaskKernel } from './dropout-mask.ts';

/** The kernels of dropout. */
export const dropoutTools: DropoutTools = {
  part: dropoutPart,
  weights: (vectors, declareRow) =>
    `${vectors.declare(['p'], ['weight'])}
    ${vectors.each(
      ({ row, key, of }) => `${declareRow(row)}
    ${of('weight')} = ${of('p')} * dropout4(seq, head, query, ${key});`,
    )}`,
  maskKernel: dropoutMaskKernel,
};

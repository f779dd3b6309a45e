import { wordTensor } from '../../../codegen/formats/tensor-binding.ts';
import type { ShaderPart } from '../../../codegen/shader-part.ts';

/** The region of the workspace in which one kernel stores partial sums that the next kernel adds. */
export const partialSums = 'workspace.sums';

/** Binds the region of partial sums as pairs of floats; the uniform `P.partial_sums_base` is its start. */
export const partialSumsPart = (access: 'read' | 'read_write'): ShaderPart =>
  wordTensor(partialSums, access, 'vec2f', 'partial_sums');

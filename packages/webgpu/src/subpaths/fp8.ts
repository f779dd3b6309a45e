import type { Fp8Options, Mxfp8Options, Tensor } from '@tilewise/core';
import { checkObject } from '@tilewise/philox/errors';
import { fp8List } from '../api/tools/fp8-list.ts';
import { toolsKey, type WithTools } from '../api/tools/tools.ts';
import { fp8Tools } from '../attention/fp8/fp8.ts';
import { mxfp8Tools } from '../attention/fp8/mxfp8.ts';
import type { GpuTensor } from '../runtime/memory/gpu-tensor.ts';

export type { WithTools } from '../api/tools/tools.ts';

/**
 * Makes the option `fp8` of an eager call from the scalars of `Fp8Options` (numbers, or f32 tensors of one
 * element; default 1), and adds the kernels that they need. Other engines accept the option too.
 * @throws InvalidArgumentError if `scalars` is not an object.
 */
export function fp8<Scalars extends Fp8Options<GpuTensor | Tensor>>(scalars: Scalars): WithTools<Scalars> {
  checkObject('scalars', scalars);
  return { ...scalars, [toolsKey]: { fp8: fp8Tools, list: fp8List } };
}

/**
 * Makes the option `mxfp8` of an eager call from the tensors of `Mxfp8Options`, and adds the kernels that
 * they need. Other engines accept the option too.
 * @throws as `fp8`.
 */
export function mxfp8<Operands extends Mxfp8Options<GpuTensor | Tensor>>(
  operands: Operands,
): WithTools<Operands> {
  checkObject('operands', operands);
  return { ...operands, [toolsKey]: { fp8: fp8Tools, mxfp8: mxfp8Tools, list: fp8List } };
}

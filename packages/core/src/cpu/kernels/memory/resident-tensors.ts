import { dtypeInfo, type TypedArray } from '../../../tensor/dtype/dtype.ts';
import { contiguousStrides, elementsSpanned } from '../../../tensor/shape.ts';
import { Tensor } from '../../../tensor/tensor.ts';
import type { PartialDesc } from '../../../tensor/tensor-desc.ts';
import { engineKernels } from '../engine-kernels.ts';
import type { Variant } from '../interface/variant.ts';
import type { Memory } from './memory.ts';

interface Block {
  readonly memory: Memory;
  readonly at: number;
}

/** The storage of tensors in the memory of kernels, by their arrays, which views of a tensor share. */
const blocks = new WeakMap<TypedArray, Block>();
const unreachable = /* @__PURE__ */ new FinalizationRegistry<Block>(({ memory, at }) => memory.free(at));

/**
 * A tensor of undefined contents, in the memory of the kernels of a variant, which read and write it in
 * place; an ordinary one where nothing can stay in that memory, or it is full. Its storage is free again
 * after `release`, or when nobody holds its array any more.
 */
export function allocateResident(variant: Variant, desc: PartialDesc): Tensor {
  const { dtype, shape, strides = contiguousStrides(shape) } = desc;
  const { bytes, allocate } = dtypeInfo[dtype];
  const length = elementsSpanned({ shape, strides });
  const memory = engineKernels.residentMemory(variant);
  const storage = memory.keep(length * bytes);
  if (!storage) return Tensor.zeros(shape, { dtype, strides });
  const { buffer, at } = storage;
  const ArrayType = allocate(0).constructor as new (b: ArrayBufferLike, at: number, n: number) => TypedArray;
  const data = new ArrayType(buffer, at, length);
  const block = { memory, at };
  blocks.set(data, block);
  unreachable.register(data, block, data);
  return Tensor.wrap(data, { dtype, shape, strides });
}

/** The elements of a tensor in the memory of the kernels of a variant; the tensor itself if it is there. */
export function toResident(variant: Variant, tensor: Tensor): Tensor {
  if (engineKernels.residentMemory(variant).addressOf(tensor.data) >= 0) return tensor;
  const { data, offset } = tensor;
  const made = allocateResident(variant, tensor);
  made.data.set(data.subarray(offset, offset + made.data.length));
  return made;
}

/** The elements of a tensor in an ordinary buffer of its own, if it is in the memory of kernels. */
export function fromResident(variant: Variant, tensor: Tensor): Tensor {
  if (engineKernels.residentMemory(variant).addressOf(tensor.data) < 0) return tensor;
  const { data, offset, dtype, shape, strides } = tensor;
  const made = Tensor.zeros(shape, { dtype, strides });
  made.data.set(data.subarray(offset, offset + made.data.length));
  return made;
}

/** Frees the storage of a tensor, if it is in the memory of kernels. Views of the tensor lose it too. */
export function releaseResident({ data }: Tensor): void {
  const block = blocks.get(data);
  if (!block) return;
  blocks.delete(data);
  unreachable.unregister(data);
  block.memory.free(block.at);
}

import { dtypeInfo, type TypedArray } from '../../../tensor/dtype/dtype.ts';
import { elementsSpanned, sameShape } from '../../../tensor/shape.ts';
import { Tensor } from '../../../tensor/tensor.ts';
import { checkDesc, type PartialDesc } from '../../../tensor/tensor-desc.ts';
import { engineKernels } from '../engine-kernels.ts';
import type { Variant } from '../variant.ts';
import type { Memory } from './memory.ts';

interface Block {
  readonly memory: Memory;
  readonly at: number;
  /** How many use the block: its tensor, until it is released, and each call that holds it. */
  users: number;
}

/**
 * The storage of tensors in the memory of kernels, by the arrays over it. A tensor shares its array with its
 * views.
 */
const blocks = new WeakMap<TypedArray, Block>();
const unreachable = /* @__PURE__ */ new FinalizationRegistry<Block>(letGo);

function letGo(block: Block): void {
  block.users--;
  if (block.users === 0) block.memory.free(block.at);
}

/**
 * A tensor with undefined contents in the memory of a variant's kernels, which read and write it in place. It
 * is an ordinary tensor if nothing can stay in that memory, or if the memory is full. Its storage is freed by
 * `release`, or when its array is garbage-collected.
 * @throws as `checkDesc`; TilewiseError with code `OUT_OF_MEMORY`.
 */
export function allocateResident(variant: Variant, desc: PartialDesc): Tensor {
  const { dtype, shape, strides } = checkDesc(desc);
  const { bytes, allocate } = dtypeInfo[dtype];
  const length = elementsSpanned({ shape, strides });
  const memory = engineKernels.residentMemory(variant);
  const storage = memory.keep(length * bytes);
  if (!storage) return Tensor.zeros(shape, { dtype, strides });
  const { buffer, at } = storage;
  const ArrayType = allocate(0).constructor as new (b: ArrayBufferLike, at: number, n: number) => TypedArray;
  const data = new ArrayType(buffer, at, length);
  const block = { memory, at, users: 1 };
  blocks.set(data, block);
  unreachable.register(data, block, data);
  return Tensor.wrap(data, { dtype, shape, strides });
}

/** Whether a tensor is in the memory of a variant's kernels. */
export function isResident(variant: Variant, { data }: Tensor): boolean {
  return engineKernels.residentMemory(variant).addressOf(data) >= 0;
}

/** Copies a tensor to the memory of a variant's kernels; returns the tensor itself if it is there already. */
export function toResident(variant: Variant, tensor: Tensor): Tensor {
  if (isResident(variant, tensor)) return tensor;
  const { data, offset } = tensor;
  const made = allocateResident(variant, tensor);
  made.data.set(data.subarray(offset, offset + made.data.length));
  return made;
}

/** The arrays of tensors, by arrays over a part of their storage, which keep them reachable. */
const wholes = /* @__PURE__ */ new WeakMap<TypedArray, TypedArray>();

/**
 * Elements `start` to `end` (exclusive) of a tensor's array, as an array over the same storage. The storage
 * lives at least as long as this array, and `holdResident` holds it for tensors with this array too.
 */
export function partOf(data: TypedArray, start: number, end: number): TypedArray {
  const part = data.subarray(start, end);
  wholes.set(part, data);
  const block = blocks.get(data);
  if (block) blocks.set(part, block);
  return part;
}

/**
 * Keeps the storage of tensors in the memory of kernels, even if they are released, until the returned
 * function is called. Until then they cannot be overwritten.
 */
export function holdResident(tensors: readonly Tensor[]): () => void {
  const held = tensors.flatMap(({ data }) => blocks.get(data) ?? []).filter(({ users }) => users > 0);
  for (const block of held) block.users++;
  return () => held.forEach(letGo);
}

/**
 * Replaces the contents of a tensor that `toResident` has copied. Returns false, and writes nothing, if the
 * tensor is a view, has been released or is held, if `from` has another dtype, shape or strides, or if `from`
 * is itself in the memory of the kernels.
 */
export function overwriteResident(variant: Variant, tensor: Tensor, from: Tensor): boolean {
  const { data, offset, dtype, shape, strides } = tensor;
  const isWhole = blocks.get(data)?.users === 1 && offset === 0 && data.length === elementsSpanned(tensor);
  const isAlike = from.dtype === dtype && sameShape(from.shape, shape) && sameShape(from.strides, strides);
  if (!isWhole || !isAlike || !isResident(variant, tensor) || isResident(variant, from)) return false;
  data.set(from.data.subarray(from.offset, from.offset + data.length));
  return true;
}

/**
 * Copies a tensor from the memory of kernels to its own ordinary buffer; other tensors are returned as
 * they are.
 */
export function fromResident(variant: Variant, tensor: Tensor): Tensor {
  if (!isResident(variant, tensor)) return tensor;
  const { data, offset, dtype, shape, strides } = tensor;
  const made = Tensor.zeros(shape, { dtype, strides });
  made.data.set(data.subarray(offset, offset + made.data.length));
  return made;
}

/**
 * Frees the storage of a tensor, if it is in the memory of kernels. Views of the tensor lose it too. The
 * array that they share then says that it has no elements, like an array whose buffer was transferred, so
 * that the checks that find lost storage refuse the tensors; shared memory cannot be transferred.
 */
export function releaseResident({ data }: Tensor): void {
  const block = blocks.get(data);
  if (!block) return;
  blocks.delete(data);
  unreachable.unregister(data);
  letGo(block);
  Object.defineProperty(data, 'length', { value: 0 });
}

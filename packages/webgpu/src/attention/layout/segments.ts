import { bindingLimit, dispatchSplits } from '../../codegen/dispatch-splits.ts';
import type { KernelSpec, TensorSizes } from '../../codegen/kernel-spec.ts';
import {
  type StorageBinding,
  segmentName,
  type UniformField,
  u32Uniforms,
} from '../../codegen/shader-part.ts';
import type { Capabilities } from '../../device/capabilities/capabilities.ts';

/**
 * Tensors that kernels bind several times, each time a different segment, and the size of a segment in bytes.
 */
export interface Segments {
  readonly counts: ReadonlyMap<string, number>;
  readonly bytes: number;
  readonly bind: typeof segmentBindings;
  readonly read: typeof readSegment;
}

/** Makes a kernel, with segments if they are needed. */
export type WithSegments = (
  make: (segments: Segments) => KernelSpec,
  tensors: TensorSizes,
  capabilities: Capabilities,
) => KernelSpec;

/** More segments would leave no bindings for other tensors. */
const maxSegments = 4;

/**
 * Makes a kernel. If a single workgroup needs more of some tensor than can be bound at once, the kernel reads
 * the tensor in as few segments as possible; `make` makes the kernel with given segments. If it would need
 * too many segments, the kernel is left as it is, and its plan reports the problem.
 */
export const withSegments: WithSegments = (make, tensors, capabilities) => {
  const limit = bindingLimit(capabilities);
  const alignment = capabilities.minStorageBufferOffsetAlignment;
  const bytes = Math.max(Math.floor((limit.bytes - limit.slack) / alignment), 1) * alignment;
  const counts = new Map<string, number>();
  const segments: Segments = { counts, bytes, bind: segmentBindings, read: readSegment };
  const first = make(segments);
  let kernel = first;
  for (;;) {
    const tooLarge = dispatchSplits(kernel, tensors, limit);
    if (typeof tooLarge !== 'string') return kernel;
    const binding = kernel.bindings.find(({ name }) => name === tooLarge);
    const name = binding?.segment?.of ?? tooLarge;
    const count = (counts.get(name) ?? 1) + 1;
    if (count > maxSegments || binding?.access !== 'read') return first;
    counts.set(name, count);
    const next = make(segments);
    if (next.bindings.length === kernel.bindings.length) return first;
    kernel = next;
  }
};

/**
 * The bindings of a tensor in segments, and the uniform `NAME_segment`, the number of elements in a segment.
 */
function segmentBindings(
  binding: StorageBinding,
  count: number,
  bytes: number,
): { readonly bindings: readonly StorageBinding[]; readonly uniforms: readonly UniformField[] } {
  const { name } = binding;
  const elements = bytes / binding.elementBytes;
  return {
    bindings: Array.from({ length: count }, (_, index) => ({
      ...binding,
      name: segmentName(name, index),
      variable: segmentVariable(name, index),
      segment: { of: name, index, count, elements },
    })),
    uniforms: u32Uniforms({ [`${name}_segment`]: elements }),
  };
}

const segmentVariable = (name: string, index: number): string => (index === 0 ? name : `${name}_${index}`);

/** Statements that return `read(array, at)` from the segment that contains element `at`. */
function readSegment(name: string, count: number, read: (array: string, at: string) => string): string {
  const from = (index: number): string => `${index}u * P.${name}_segment`;
  return Array.from({ length: count }, (_, index) => {
    const value = `return ${read(segmentVariable(name, index), `(at - ${from(index)})`)};`;
    return index < count - 1 ? `  if (at < ${from(index + 1)}) {\n    ${value}\n  }` : `  ${value}`;
  }).join('\n');
}

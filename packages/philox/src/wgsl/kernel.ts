import { describeValue, InvalidArgumentError } from '../errors.ts';

/** A compute kernel as data: each invocation writes four consecutive elements. */
export interface PhiloxKernel {
  /** A complete module with the entry point `main`. */
  readonly code: string;
  /** Invocations per workgroup. */
  readonly workgroupSize: number;
  /** Dispatch ⌈count / elementsPerWorkgroup⌉ workgroups or more, over x and y in any way (z = 1). */
  readonly elementsPerWorkgroup: number;
}

/**
 * Returns `size` if a core WebGPU device can run workgroups of this size (1 to 256); throws
 * InvalidArgumentError otherwise.
 */
export function checkWorkgroupSize(size: number): number {
  if (Number.isInteger(size) && size >= 1 && size <= 256) return size;
  const rule = `must be a whole number between 1 and 256, got ${describeValue(size)}`;
  throw new InvalidArgumentError('workgroupSize', rule);
}

/**
 * The head of a `main`: it defines `first`, the index of this invocation's first element, and returns unless
 * `first` is below `params.count`.
 */
export function mainHead(workgroupSize: number): string {
  return `@compute @workgroup_size(${workgroupSize})
fn main(
  @builtin(local_invocation_index) local: u32,
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
) {
  let quad = (group.y * groups.x + group.x) * ${workgroupSize}u + local;
  if (quad >= params.count / 4u + select(0u, 1u, params.count % 4u != 0u)) {
    return;
  }
  let first = 4u * quad;`;
}

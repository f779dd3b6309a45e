import type { Footprint } from '@tilewise/core/engine';
import { type BindingBudget, tensorsToGather, unlimitedBudget } from './binding-pressure.ts';
import {
  declareParts,
  type ShaderPart,
  type StorageBinding,
  segmentName,
  tensorOf,
  type UniformField,
  u32Uniforms,
} from './shader-part.ts';
import { formatWgsl } from './text.ts';

/**
 * The order of a kernel's workgroups: batch entries contain heads, heads contain tiles, and tiles contain
 * workgroups.
 */
export interface KernelGrid {
  readonly batches: number;
  readonly heads: number;
  readonly tiles: number;
  /** The number of workgroups of a tile. Default: 1. */
  readonly workgroups?: number;
  /**
   * The number of rows of one tile (not always an integer), and the side that they belong to; null if every
   * workgroup reads all rows.
   */
  readonly side: 'q' | 'kv' | null;
  readonly rows: number;
  /** Whether the tiles come in reverse order, the last tile first. Default: false. */
  readonly reversed?: boolean;
}

/**
 * A kernel as plain data: what to compile, what to bind, and how many workgroups to run. Made without a GPU.
 */
export interface KernelSpec {
  /** What the kernel computes, such as `attention forward`: its label in GPU debuggers and traces. */
  readonly name: string;
  /** The whole module, with the entry point `main`. Also the key of the compiled pipeline. */
  readonly wgsl: string;
  /** The storage bindings in order, starting at `@binding(1)`; `@binding(0)` is the `Params` uniform. */
  readonly bindings: readonly StorageBinding[];
  /**
   * Tensors that the kernel reads from the binding `workspace.gathered`, to which an earlier kernel has
   * copied them.
   */
  readonly gathered: readonly StorageBinding[];
  /** The fields of the `Params` uniform in order, 4 bytes each without gaps. */
  readonly uniforms: readonly UniformField[];
  /** The total number of workgroups, over all dispatches. */
  readonly groups: number;
  /** The order of the workgroups, if some of them may be dispatched alone. */
  readonly grid: KernelGrid | null;
  /**
   * Kernels that compute the same results one at a time. They run instead if the results share bytes of a
   * buffer.
   */
  readonly aliasFallback?: AliasFallback;
}

/** The sizes of tensors in memory, and the parts of them that workgroups touch. */
export interface TensorSizes {
  readonly spans: Readonly<Record<string, number>>;
  /** The elements that workgroups touch, for tensors of which a dispatch may bind only a part. */
  readonly footprints?: Readonly<Record<string, Footprint>> | undefined;
}

/**
 * The kernels of a plan and the sizes of their tensors, from which follows whether a device can run the plan.
 */
export interface KernelParts extends TensorSizes {
  readonly kernels: readonly KernelSpec[];
}

export interface AliasFallback {
  readonly kernels: readonly KernelSpec[];
  /** Whether each result may have gaps that contain elements of another. */
  readonly interleaved: boolean;
}

/** The kernels, each followed by the kernels that may run instead. */
export const withFallbacks = (kernels: readonly KernelSpec[]): readonly KernelSpec[] =>
  kernels.flatMap(kernel => [kernel, ...(kernel.aliasFallback?.kernels ?? [])]);

/** The number of workgroups per dimension that WebGPU guarantees. */
const maxWorkgroupsPerDimension = 65535;

/**
 * Assembles a kernel that runs `body` once per group of `workgroupSize` invocations. In `body`, `group` is
 * the number of the group in 0..groups−1 (uniform: barriers may depend on it) and `lane` the number of the
 * invocation in its group (not uniform).
 */
export function kernelSpec(kernel: {
  readonly name: string;
  readonly groups: number | KernelGrid;
  readonly workgroupSize: number;
  readonly parts: readonly ShaderPart[];
  /** Workgroup variables and functions of this kernel only. */
  readonly declarations?: string;
  readonly body: string;
  /** Default: no limit. */
  readonly bindingBudget?: BindingBudget;
}): KernelSpec {
  const { name, workgroupSize, parts, declarations = '', body, bindingBudget = unlimitedBudget } = kernel;
  const grid = typeof kernel.groups === 'number' ? null : kernel.groups;
  const groups = typeof kernel.groups === 'number' ? kernel.groups : groupsOf(kernel.groups);
  const count: ShaderPart = {
    uniforms: u32Uniforms({ first_group: { dispatch: 'first' }, end_group: { dispatch: 'end' } }),
  };
  const { wgsl, bindings, gathered, uniforms } = declareParts([count, ...parts], all =>
    tensorsToGather(all, bindingBudget),
  );
  const distinct = (of: (part: ShaderPart) => readonly string[] | undefined): string[] => [
    ...new Set(parts.flatMap(part => of(part) ?? [])),
  ];
  const attributes = ['@compute', ...distinct(part => part.attributes), `@workgroup_size(${workgroupSize})`];
  const main = `${attributes.join(' ')}
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) workgroups: vec3u,
  @builtin(local_invocation_index) lane: u32,
${distinct(part => part.builtins)
  .map(text => `  ${text},\n`)
  .join('')}) {
  let group = P.first_group + workgroup.x + workgroup.y * workgroups.x;
  if (group >= P.end_group) {
    return;
  }
${body.trimEnd()}
}`;
  const source = [distinct(part => part.directives).join('\n'), wgsl, declarations.trim(), main]
    .filter(Boolean)
    .join('\n\n');
  return {
    name,
    wgsl: `${formatWgsl(withoutUnusedVariables(source))}\n`,
    bindings,
    gathered,
    uniforms,
    groups,
    grid,
  };
}

const groupsOf = ({ batches, heads, tiles, workgroups = 1 }: KernelGrid): number =>
  batches * heads * tiles * workgroups;

/** WGSL: the index of an invocation among those of `invocations`. */
export const invocationIndex = 'group * 64u + lane';

/** The workgroups of a kernel with at least `count` invocations, numbered by `invocationIndex`. */
export const invocations = (count: number): { readonly groups: number; readonly workgroupSize: number } => ({
  groups: Math.ceil(count / 64),
  workgroupSize: 64,
});

/**
 * Removes unused workgroup variables: parts declare the variables of everything that they can do, but a
 * kernel needs only those that it uses.
 */
function withoutUnusedVariables(source: string): string {
  return source.replace(/^var<workgroup> (\w+).*\n/gm, (line, name: string) =>
    source.split(new RegExp(`\\b${name}\\b`)).length > 2 ? line : '',
  );
}

/**
 * Binds tensors for writing that a kernel only reads. WebGPU requires this for tensors in a buffer to which
 * the kernel also writes elsewhere.
 */
export function boundForWriting(kernel: KernelSpec, names: readonly string[]): KernelSpec {
  const isMeant = (binding: StorageBinding): boolean =>
    binding.access === 'read' && names.includes(tensorOf(binding));
  const wgsl = kernel.bindings
    .filter(isMeant)
    .reduce(
      (text, { name, variable = name }) =>
        text.replace(`var<storage, read> ${variable}:`, `var<storage, read_write> ${variable}:`),
      kernel.wgsl,
    );
  const bindings = kernel.bindings.map(own =>
    isMeant(own) ? { ...own, access: 'read_write' as const } : own,
  );
  return { ...kernel, wgsl, bindings };
}

/**
 * Spreads any number of workgroups over x and y, because one dimension is limited to 65,535; surplus groups
 * return at once.
 */
export function dispatchSize(groups: number): [x: number, y: number] {
  const x = Math.min(groups, maxWorkgroupsPerDimension);
  return x === 0 ? [0, 1] : [x, Math.ceil(groups / x)];
}

/** The kernel with renamed tensors; names that are not in `names` stay the same. */
export function renameTensors(kernel: KernelSpec, names: Readonly<Record<string, string>>): KernelSpec {
  const renamed = (name: string): string => names[name] ?? name;
  return {
    ...kernel,
    bindings: kernel.bindings.map(binding => {
      const { name, variable = name, segment } = binding;
      const own = { ...binding, variable };
      if (!segment) return { ...own, name: renamed(name) };
      const of = renamed(segment.of);
      return { ...own, name: segmentName(of, segment.index), segment: { ...segment, of } };
    }),
    uniforms: kernel.uniforms.map(field =>
      typeof field.value === 'object' && 'offsetOf' in field.value
        ? { ...field, value: { offsetOf: renamed(field.value.offsetOf) } }
        : field,
    ),
    ...(kernel.aliasFallback && {
      aliasFallback: {
        ...kernel.aliasFallback,
        kernels: kernel.aliasFallback.kernels.map(one => renameTensors(one, names)),
      },
    }),
  };
}

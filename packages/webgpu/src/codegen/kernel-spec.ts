import { type BindingBudget, tensorsToGather, unlimitedBudget } from './binding-pressure.ts';
import {
  declareParts,
  type ShaderPart,
  type StorageBinding,
  segmentName,
  type UniformField,
  wholeUniforms,
} from './shader-part.ts';
import { formatWgsl } from './text.ts';

/**
 * How the workgroups of a kernel follow each other: for each batch entry its heads, for each head its tiles,
 * for each tile `each` workgroups.
 */
export interface KernelGrid {
  readonly batches: number;
  readonly heads: number;
  readonly tiles: number;
  readonly each: number;
  /**
   * Rows of one tile (not always whole ones), and of which side they are; null where every workgroup looks at
   * all rows.
   */
  readonly side: 'q' | 'kv' | null;
  readonly rows: number;
  /** Whether the last tile comes first. */
  readonly reversed: boolean;
}

/** A kernel as plain data: what to compile, what to bind, how many workgroups. Made without a GPU. */
export interface KernelSpec {
  readonly name: string;
  /** The whole module; entry point `main`. Also the key of the compiled pipeline. */
  readonly wgsl: string;
  /** `@binding(0)` is the `Params` uniform, storage bindings follow from 1 in this order. */
  readonly bindings: readonly StorageBinding[];
  /**
   * Tensors that it reads from the binding `workspace.gathered`, where a kernel before it has copied them.
   */
  readonly gathered: readonly StorageBinding[];
  readonly uniforms: readonly UniformField[];
  /** Workgroups, however they are dispatched. */
  readonly groups: number;
  /** How they follow each other, where some of them may be dispatched by themselves. */
  readonly grid: KernelGrid | null;
  /**
   * Kernels that do the same one result at a time: they run instead where its results share bytes of a
   * buffer.
   */
  readonly aliasFallback?: AliasFallback;
}

export interface AliasFallback {
  readonly kernels: readonly KernelSpec[];
  /** Whether the results have gaps that the elements of another may lie in. */
  readonly interleaved: boolean;
}

/** Kernels with those that may run instead of them. */
export const withFallbacks = (kernels: readonly KernelSpec[]): readonly KernelSpec[] =>
  kernels.flatMap(kernel => [kernel, ...(kernel.aliasFallback?.kernels ?? [])]);

/** WebGPU's guaranteed number of workgroups per dimension. */
const maxWorkgroupsPerDimension = 65535;

/**
 * Assembles a kernel that runs `body` once per group of `workgroupSize` invocations. In `body`, `group` is
 * the group's number in 0..groups−1 (uniform: barriers may depend on it) and `lane` the invocation's number
 * in its group (not uniform).
 */
export function kernelSpec(kernel: {
  readonly name: string;
  readonly groups: number | KernelGrid;
  readonly workgroupSize: number;
  readonly parts: readonly ShaderPart[];
  /** Workgroup variables and functions of this kernel alone. */
  readonly declarations?: string;
  readonly body: string;
  /** Default: as much as it takes. */
  readonly bindingBudget?: BindingBudget;
}): KernelSpec {
  const { name, workgroupSize, parts, declarations = '', body, bindingBudget = unlimitedBudget } = kernel;
  const grid = typeof kernel.groups === 'number' ? null : kernel.groups;
  const groups =
    typeof kernel.groups === 'number'
      ? kernel.groups
      : kernel.groups.batches * kernel.groups.heads * kernel.groups.tiles * kernel.groups.each;
  const count: ShaderPart = {
    uniforms: wholeUniforms({ first_group: { dispatch: 'first' }, end_group: { dispatch: 'end' } }),
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
  return { name, wgsl: `${formatWgsl(withoutIdle(source))}\n`, bindings, gathered, uniforms, groups, grid };
}

/** WGSL: the place of an invocation in a kernel of `forPlaces`. */
export const ownPlace = 'group * 64u + lane';

/** The workgroups of a kernel that has an invocation for each of so many places, and more: see `ownPlace`. */
export const forPlaces = (places: number): { readonly groups: number; readonly workgroupSize: number } => ({
  groups: Math.ceil(places / 64),
  workgroupSize: 64,
});

/** Parts declare the workgroup memory of all that they can do; a kernel has that of what it does. */
function withoutIdle(source: string): string {
  return source.replace(/^var<workgroup> (\w+).*\n/gm, (line, name: string) =>
    source.split(new RegExp(`\\b${name}\\b`)).length > 2 ? line : '',
  );
}

/**
 * A kernel that binds tensors for writing although it reads them only. WebGPU demands that of tensors in a
 * buffer that the kernel also writes to, elsewhere.
 */
export function boundForWriting(kernel: KernelSpec, names: readonly string[]): KernelSpec {
  const isMeant = ({ name, access }: StorageBinding): boolean => access === 'read' && names.includes(name);
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
 * Spreads any number of workgroups over x and y, as one dimension holds 65,535; surplus groups return at
 * once.
 */
export function dispatchSize(groups: number): [x: number, y: number] {
  const x = Math.min(groups, maxWorkgroupsPerDimension);
  return x === 0 ? [0, 1] : [x, Math.ceil(groups / x)];
}

/** The kernel on tensors of other names; names that are not in `names` stay. */
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

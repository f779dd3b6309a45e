import {
  areAlike,
  type FusiblePart,
  fusedKernel,
  fusiblePart,
  type PlacedPart,
} from '../../codegen/horizontal-fusion.ts';
import type { KernelSpec } from '../../codegen/kernel-spec.ts';
import { uniformBytes } from '../../codegen/shader-part.ts';
import type { BoundTensor } from '../plan/bind-slice.ts';

/**
 * The largest number of workgroups of a command that shares a dispatch: more of them keep a GPU busy without
 * other commands.
 */
const MAX_GROUPS = 512;

/** One dispatch of a plan on certain tensors, as data. */
export interface Command {
  readonly kernel: KernelSpec;
  readonly bound: readonly BoundTensor[];
  /** The content of the `Params` uniform. */
  readonly parameters: ArrayBuffer;
  /** The number of workgroups. */
  readonly groups: number;
}

/** One dispatch of several commands that do not depend on each other, or of one command. */
export interface JoinedDispatch {
  readonly kernel: KernelSpec;
  /** The ranges of buffers that the kernel binds, in the order of its bindings. */
  readonly resources: readonly GPUBufferBinding[];
  /** The content of the `Params` uniform. */
  readonly parameters: Uint8Array;
  /** The number of workgroups. */
  readonly groups: number;
}

/** Commands that will be one dispatch. */
interface Group {
  readonly commands: Command[];
  /**
   * The commands as parts of one kernel, with the places of their bindings in `bound`; null for a command
   * that has a dispatch of its own.
   */
  readonly parts: PlacedPart[] | null;
  /** The bindings of the dispatch. */
  readonly bound: BoundTensor[];
  /** The buffers that the commands read and write. */
  readonly read: Set<GPUBuffer>;
  readonly written: Set<GPUBuffer>;
}

/**
 * Divides commands among dispatches. A command joins the earliest dispatch after which nothing reads or
 * writes what the command writes, and nothing writes what the command reads.
 * @param maxBindings the number of storage buffers that the device binds at once.
 */
export function joinedDispatches(commands: readonly Command[], maxBindings: number): JoinedDispatch[] {
  const groups: Group[] = [];
  /** The parts of kernels by their text, which layers of a model share. */
  const known = new Map<string, FusiblePart | null>();
  for (const command of commands) {
    const { kernel } = command;
    const found = known.get(kernel.wgsl) ?? fusiblePart(kernel);
    known.set(kernel.wgsl, found);
    const isShort = command.groups <= MAX_GROUPS && kernel.gathered.length === 0;
    const part = isShort && found ? { ...found, kernel } : null;
    const open = part ? groups.slice(firstFree(groups, command)) : [];
    let group = open.find(own => part && canJoin(own, command, part, maxBindings));
    if (!group) {
      group = { commands: [], parts: part && [], bound: [], read: new Set(), written: new Set() };
      groups.push(group);
    }
    add(group, command, part);
  }
  return groups.map(dispatchOf);
}

/** The index of the first group from which on no group has a conflict with a command. */
function firstFree(groups: readonly Group[], { bound }: Command): number {
  let first = groups.length;
  const conflicts = ({ read, written }: Group): boolean =>
    bound.some(
      ({ binding, resource: { buffer } }) =>
        written.has(buffer) || (binding.access === 'read_write' && read.has(buffer)),
    );
  while (first > 0 && !conflicts(groups[first - 1])) first--;
  return first;
}

function canJoin({ parts, bound }: Group, command: Command, part: FusiblePart, maxBindings: number): boolean {
  const isAlike = parts?.every(other => areAlike(other.part, part)) ?? false;
  return isAlike && bound.length + placed(bound, command).added.length <= maxBindings;
}

/**
 * The places of the bindings of a command in a dispatch with the bindings `bound`, and the bindings to add.
 * Two bindings of one command have different places, because they are two variables of the command's kernel.
 */
function placed(bound: readonly BoundTensor[], command: Command): { at: number[]; added: BoundTensor[] } {
  const at: number[] = [];
  const added: BoundTensor[] = [];
  for (const own of command.bound) {
    const known = bound.findIndex((other, n) => isSame(own, other) && !at.includes(n));
    at.push(known < 0 ? bound.length + added.push(own) - 1 : known);
  }
  return { at, added };
}

/** Whether two bindings may be one binding of a fused kernel. */
function isSame(a: BoundTensor, b: BoundTensor): boolean {
  const [of, other] = [a.resource, b.resource];
  return (
    a.binding.access === 'read' &&
    b.binding.access === 'read' &&
    a.binding.element === b.binding.element &&
    of.buffer === other.buffer &&
    of.offset === other.offset &&
    of.size === other.size
  );
}

function add(
  { commands, parts, bound, read, written }: Group,
  command: Command,
  part: FusiblePart | null,
): void {
  const { at, added } = placed(bound, command);
  commands.push(command);
  bound.push(...added);
  if (part) parts?.push({ part, at });
  for (const { binding, resource } of command.bound)
    (binding.access === 'read' ? read : written).add(resource.buffer);
}

function dispatchOf({ commands, parts, bound }: Group): JoinedDispatch {
  const [{ kernel, parameters, groups }] = commands;
  const resources = bound.map(({ resource }) => resource);
  if (!parts || commands.length === 1)
    return { kernel, resources, parameters: new Uint8Array(parameters), groups };
  const total = commands.reduce((sum, command) => sum + command.groups, 0);
  const fused = fusedKernel(
    parts,
    bound.map(({ binding }) => binding),
    total,
  );
  const content = new Uint8Array(uniformBytes(fused.uniforms));
  // The kernel's own parameters: its first workgroup, and the one after its last.
  content.set(new Uint8Array(Uint32Array.of(0, total).buffer));
  let end = 8;
  for (const own of commands) {
    const size = 4 * own.kernel.uniforms.length;
    content.set(new Uint8Array(own.parameters, 0, size), end);
    end += size;
  }
  return { kernel: fused, parameters: content, resources, groups: total };
}

import { areAlike, type FusiblePart, fusedKernel, fusiblePart } from '../../codegen/horizontal-fusion.ts';
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
  /** The commands taken apart; null for a command that has a dispatch of its own. */
  readonly parts: FusiblePart[] | null;
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
  for (const command of commands) {
    const isShort = command.groups <= MAX_GROUPS && command.kernel.gathered.length === 0;
    const part = isShort ? fusiblePart(command.kernel) : null;
    const open = part ? groups.slice(firstFree(groups, command)) : [];
    const joined = open.find(group => part && canJoin(group, command, part, maxBindings));
    const group = joined ?? { ...empty(), parts: part ? [] : null };
    if (!joined) groups.push(group);
    add(group, command);
    if (part) group.parts?.push(part);
  }
  return groups.map(dispatchOf);
}

const empty = (): Omit<Group, 'parts'> => ({
  ...{ commands: [], bound: [] },
  ...{ read: new Set<GPUBuffer>(), written: new Set<GPUBuffer>() },
});

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
  const added = command.bound.filter(own => !bound.some(other => isSame(own, other)));
  const isAlike = parts?.every(other => areAlike(other, part)) ?? false;
  return isAlike && bound.length + added.length <= maxBindings;
}

function add({ commands, bound, read, written }: Group, command: Command): void {
  commands.push(command);
  for (const own of command.bound) {
    (own.binding.access === 'read' ? read : written).add(own.resource.buffer);
    if (!bound.some(other => isSame(own, other))) bound.push(own);
  }
}

/** Whether two bindings may be one binding of a fused kernel. */
function isSame(a: BoundTensor, b: BoundTensor): boolean {
  const [of, other] = [a.resource, b.resource];
  return (
    a === b ||
    (a.binding.access === 'read' &&
      b.binding.access === 'read' &&
      a.binding.element === b.binding.element &&
      of.buffer === other.buffer &&
      of.offset === other.offset &&
      of.size === other.size)
  );
}

function dispatchOf({ commands, parts, bound }: Group): JoinedDispatch {
  const [command] = commands;
  if (!parts || commands.length === 1) {
    const { kernel, parameters, groups } = command;
    const resources = command.bound.map(({ resource }) => resource);
    return { kernel, resources, parameters: new Uint8Array(parameters), groups };
  }
  const at = (own: BoundTensor): number => bound.findIndex(other => isSame(own, other));
  const kernel = fusedKernel(
    parts.map((part, n) => ({ part, at: commands[n].bound.map(at) })),
    bound.map(({ binding }) => binding),
  );
  const content = new Uint8Array(uniformBytes(kernel.uniforms));
  let end = 0;
  for (const own of commands) {
    const size = 4 * own.kernel.uniforms.length;
    content.set(new Uint8Array(own.parameters, 0, size), end);
    end += size;
  }
  return {
    ...{ kernel, parameters: content, resources: bound.map(({ resource }) => resource) },
    groups: commands.reduce((sum, { groups: own }) => sum + own, 0),
  };
}

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

/** A dispatch to which commands are added. */
interface OpenDispatch {
  readonly commands: Command[];
  /**
   * The commands as parts of one kernel, with the indices of their bindings in `bound`; null for a command
   * that shares its dispatch with no other.
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
  const dispatches: OpenDispatch[] = [];
  /** The parts of kernels by their text, which layers of a model share. */
  const known = new Map<string, FusiblePart | null>();
  const partOf = ({ kernel, groups }: Command): FusiblePart | null => {
    if (groups > MAX_GROUPS || kernel.gathered.length > 0) return null;
    const found = known.get(kernel.wgsl);
    const part = found === undefined ? fusiblePart(kernel) : found;
    known.set(kernel.wgsl, part);
    return part;
  };
  for (const command of commands) {
    const part = partOf(command);
    const free = part ? dispatches.slice(firstFree(dispatches, command)) : [];
    let dispatch = free.find(own => part && canJoin(own, command, part, maxBindings));
    if (!dispatch) {
      dispatch = { commands: [], parts: part && [], bound: [], read: new Set(), written: new Set() };
      dispatches.push(dispatch);
    }
    add(dispatch, command, part);
  }
  return dispatches.map(finished);
}

/** The index of the first dispatch from which on no dispatch conflicts with a command. */
function firstFree(dispatches: readonly OpenDispatch[], { bound }: Command): number {
  let first = dispatches.length;
  const conflicts = ({ read, written }: OpenDispatch): boolean =>
    bound.some(
      ({ binding, resource: { buffer } }) =>
        written.has(buffer) || (binding.access === 'read_write' && read.has(buffer)),
    );
  while (first > 0 && !conflicts(dispatches[first - 1])) first--;
  return first;
}

function canJoin(
  { parts, bound }: OpenDispatch,
  command: Command,
  part: FusiblePart,
  maxBindings: number,
): boolean {
  const isAlike = parts?.every(other => areAlike(other.part, part)) ?? false;
  return isAlike && bound.length + placed(bound, command).added.length <= maxBindings;
}

/**
 * The indices of a command's bindings in a dispatch with the bindings `bound`, and the bindings to add. Two
 * bindings of one command get different indices, because they are two variables of the command's kernel.
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
  const [range, other] = [a.resource, b.resource];
  return (
    a.binding.access === 'read' &&
    b.binding.access === 'read' &&
    a.binding.element === b.binding.element &&
    range.buffer === other.buffer &&
    range.offset === other.offset &&
    range.size === other.size
  );
}

function add(
  { commands, parts, bound, read, written }: OpenDispatch,
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

/** The dispatch with the commands that have been added. */
function finished({ commands, parts, bound }: OpenDispatch): JoinedDispatch {
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

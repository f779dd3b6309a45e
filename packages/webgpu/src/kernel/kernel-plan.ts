import { InvalidArgumentError, InvalidShapeError, UnsupportedError } from '@tilewise/core';
import { bufferUsage } from '../device/constants.ts';
import type { GpuContext } from '../device/context.ts';
import { GpuTensor } from '../device/gpu-tensor.ts';
import { compile, compileAsync } from '../device/pipelines.ts';
import { type BoundTensor, bindTensor, checkAliasing } from './bind.ts';
import { withGathering } from './gather.ts';
import { dispatchSize, type KernelSpec } from './kernel-spec.ts';
import { ParameterBuffers } from './parameter-buffers.ts';
import { type Piece, piecesOf, type TensorReach, tooLargeReason } from './pieces.ts';
import {
  type EncodeTimeValue,
  gatheredTensor,
  isInWorkspace,
  packUniforms,
  type StorageBinding,
} from './shader-part.ts';

/** Where a tensor starts. */
export interface BufferSlice {
  readonly buffer: GPUBuffer;
  /** Bytes, default 0; a multiple of the `alignment` that the plan states for the tensor. */
  readonly offset?: number;
}

/** What may be passed for a tensor: a slice of a buffer, a whole buffer, or a tensor of this library on the same device. */
export type PlanBuffer = GPUBuffer | BufferSlice | GpuTensor;

/** A tensor that a plan binds. */
export interface PlanTensor {
  readonly name: string;
  /** Bytes from its first to its last element. */
  readonly bytes: number;
  /** The offset of its slice must be a multiple of this: one element, or four where they are moved as vectors. */
  readonly alignment: number;
  readonly access: 'read' | 'read_write';
}

/**
 * Kernels on one device, ready to be recorded any number of times. Nothing is submitted, mapped or allocated for tensors; the
 * parameters of a call lie in a small uniform buffer per dispatch, made anew only when they change. `Options` are numbers that
 * may change from one encode to the next.
 */
export interface KernelPlan<Options> {
  /** What `encode` needs, by name, besides the workspace. */
  readonly tensors: readonly PlanTensor[];
  /** Bytes of the buffer to pass as `workspace`; 0 when none is needed. Its content need not be kept. */
  readonly workspaceBytes: number;
  /** The kernels in order, with their source; those first that gather small tensors for crowded ones. */
  readonly kernels: readonly KernelSpec[];
  /**
   * Records the work.
   * @throws InvalidArgumentError or InvalidShapeError naming a buffer that is missing, too small or misaligned, or an option
   * that is no number of its range.
   */
  encode(
    target: GPUCommandEncoder | GPUComputePassEncoder,
    buffers: Readonly<Record<string, PlanBuffer>>,
    options?: Options,
  ): void;
  /**
   * Compiles all kernels in the background. Without it the first `encode` compiles.
   * Rejects with a TilewiseError when the device does not compile one.
   */
  warmUp(): Promise<void>;
  /** Frees the parameters of all recorded calls but the last; they must have been submitted. */
  retire(): void;
  /** Frees the parameters of all recorded calls; they must have been submitted. */
  destroy(): void;
}

/** What a plan is made of. */
export interface PlanParts<Options> {
  readonly kernels: readonly KernelSpec[];
  /** How many elements each tensor takes in memory, by name. */
  readonly spans: Readonly<Record<string, number>>;
  /** What workgroups touch of a tensor, for those that may be bound in pieces. */
  readonly reaches?: Readonly<Record<string, TensorReach>>;
  /** The values of the uniforms that an encode sets. */
  readonly inputs?: (options: Options | undefined) => Readonly<Record<string, number>>;
}

/**
 * The plan of some kernels. A tensor of which a device binds only a part is bound in pieces: the kernel is dispatched for some of
 * its workgroups at a time.
 * @throws UnsupportedError when even one workgroup touches more of a tensor than the device binds.
 */
export function makeKernelPlan<Options>(
  ctx: GpuContext,
  { kernels: made, spans: elements, reaches = {}, inputs: inputsOf = () => ({}) }: PlanParts<Options>,
): KernelPlan<Options> {
  const { device, capabilities } = ctx;
  const { maxStorageBufferBindingSize: limit, minStorageBufferOffsetAlignment: coarse } = capabilities;
  const { kernels, spans, words } = withGathering(made, elements);
  const bytesOf = ({ name, elementBytes }: StorageBinding): number => (spans[name] ?? 0) * elementBytes;
  const workspace = layWorkspace(kernels, bytesOf, coarse);
  const tensors = planTensors(kernels, bytesOf, workspace.bytes);
  const stepsOf = (atMost: number): Step[] =>
    kernels
      .filter(({ groups }) => groups > 0)
      .flatMap(kernel =>
        demandPieces(kernel, spans, reaches, atMost).map(piece => {
          return { kernel, piece, parameters: new ParameterBuffers(ctx) };
        }),
      );
  const steps = stepsOf(limit);
  const fitsWhole = steps.every(({ kernel, piece }) => piece.end - piece.first === kernel.groups);
  // Bindings start and end at rounded places: pieces that start anywhere, and tensors that do, take that much more.
  const slack = coarse + 16;
  let narrow: Step[] | undefined = fitsWhole ? undefined : stepsOf(limit - slack);
  const allSteps = (): Step[] => [...steps, ...(narrow ?? [])];
  const placeholders = new Map<string, GPUBuffer>();
  const placeholder = (name: string): BufferSlice => {
    const buffer = placeholders.get(name) ?? ctx.takeBuffer(16);
    placeholders.set(name, buffer);
    return { buffer };
  };

  return {
    kernels,
    tensors: tensors.filter(({ name }) => name !== 'workspace'),
    workspaceBytes: workspace.bytes,
    encode(target, buffers, options) {
      ctx.checkAlive();
      const inputs = inputsOf(options);
      const slices = new Map(
        tensors.map(tensor => [tensor.name, checkedSlice(ctx, tensor, buffers[tensor.name])]),
      );
      const bind = (all: readonly Step[]): Call[] =>
        all.map(step => {
          const bound = step.kernel.bindings.map(binding => {
            const { name, elementBytes } = binding;
            const [from, to] = step.piece.windows.get(name) ?? [0, 0];
            // An empty tensor may lie at the very end of its buffer, where nothing can be bound.
            const { buffer, offset = 0 } = bytesOf(binding) > 0 ? sliceFor(slices, name) : placeholder(name);
            const start = offset + (workspace.starts.get(name) ?? 0) + from * elementBytes;
            const own = bindTensor(binding, buffer, start, (to - from) * elementBytes, coarse);
            return { ...own, skipped: own.skipped - from * elementBytes };
          });
          checkAliasing(step.kernel, bound);
          return { ...step, bound };
        });
      let calls = bind(narrow ?? steps);
      if (calls.some(({ bound }) => bound.some(({ resource }) => resource.size > limit))) {
        narrow ??= stepsOf(limit - slack);
        calls = bind(narrow);
      }
      const pass = 'dispatchWorkgroups' in target ? target : target.beginComputePass({ label: 'tilewise' });
      for (const { kernel, piece, parameters, bound } of calls) {
        const { pipeline, layout } = compile(device, kernel);
        const skipped = (name: string): number =>
          bound.find(({ binding }) => binding.name === name)?.skipped ?? 0;
        const resolve = (value: EncodeTimeValue): number => {
          if ('input' in value) return inputs[value.input] ?? 0;
          if ('dispatch' in value) return piece[value.dispatch];
          if ('wordOf' in value) return Math.floor(skipped(value.wordOf) / 4);
          const name = value.offsetOf;
          const tensor = kernel.gathered.find(gathered => gathered.name === name);
          if (!tensor) {
            const own = bound.find(({ binding }) => binding.name === name);
            return own ? own.skipped / own.binding.elementBytes : 0;
          }
          // Its words were copied as they are, so it starts as far into the first one as it did.
          const first = skipped(gatheredTensor) + 4 * (words.get(name) ?? 0);
          return (first + ((slices.get(name)?.offset ?? 0) % 4)) / tensor.elementBytes;
        };
        const resources = [
          parameters.get(packUniforms(kernel.uniforms, resolve)),
          ...bound.map(({ resource }) => resource),
        ];
        pass.setPipeline(pipeline);
        pass.setBindGroup(
          0,
          device.createBindGroup({
            label: kernel.name,
            layout,
            entries: resources.map((resource, binding) => ({ binding, resource })),
          }),
        );
        pass.dispatchWorkgroups(...dispatchSize(piece.end - piece.first));
      }
      if (pass !== target) pass.end();
    },
    async warmUp() {
      ctx.checkAlive();
      await Promise.all(kernels.map(kernel => compileAsync(device, kernel)));
    },
    retire() {
      for (const { parameters } of allSteps()) parameters.retire();
    },
    destroy() {
      for (const { parameters } of allSteps()) parameters.destroy();
      for (const buffer of placeholders.values()) ctx.discard(buffer);
      placeholders.clear();
    },
  };
}

/** One dispatch. */
interface Step {
  readonly kernel: KernelSpec;
  readonly piece: Piece;
  readonly parameters: ParameterBuffers;
}

/** The same on the buffers of one encode. */
interface Call extends Step {
  /** `skipped` counts from the start of the tensor, so it is negative where a window starts further on. */
  readonly bound: readonly BoundTensor[];
}

function demandPieces(
  kernel: KernelSpec,
  spans: Readonly<Record<string, number>>,
  reaches: Readonly<Record<string, TensorReach>>,
  limit: number,
): readonly Piece[] {
  const pieces = piecesOf(kernel, spans, reaches, limit);
  if (typeof pieces !== 'string') return pieces;
  throw new UnsupportedError('webgpu', [tooLargeReason(kernel, pieces, limit)]);
}

/** Where the regions of the workspace start, in bytes, and what they take together. */
interface WorkspaceLayout {
  readonly starts: ReadonlyMap<string, number>;
  readonly bytes: number;
}

/** Regions behind each other; kernels write to one and read another, so their bindings must not meet when they are rounded. */
function layWorkspace(
  kernels: readonly KernelSpec[],
  bytesOf: (binding: StorageBinding) => number,
  coarse: number,
): WorkspaceLayout {
  const regions = kernels.flatMap(({ bindings }) => bindings.filter(({ name }) => isInWorkspace(name)));
  const sizes = new Map(regions.map(region => [region.name, bytesOf(region)]));
  const starts = new Map<string, number>();
  let bytes = 0;
  for (const name of [...sizes.keys()].sort()) {
    const start = bytes === 0 ? 0 : Math.ceil(bytes / coarse) * coarse + coarse;
    starts.set(name, start);
    bytes = start + (sizes.get(name) ?? 0);
  }
  return { starts, bytes };
}

/** The slice that was given for a tensor; regions of the workspace are in that of the whole. */
function sliceFor(slices: ReadonlyMap<string, BufferSlice>, name: string): BufferSlice {
  const slice = slices.get(isInWorkspace(name) ? 'workspace' : name);
  if (!slice) throw new TypeError(`no slice for ${name}`);
  return slice;
}

/** Every tensor that some kernel binds, with the strictest of their demands. */
function planTensors(
  kernels: readonly KernelSpec[],
  bytesOf: (binding: StorageBinding) => number,
  workspaceBytes: number,
): PlanTensor[] {
  const tensors = new Map<string, PlanTensor>();
  for (const binding of kernels.flatMap(kernel => kernel.bindings)) {
    const { access, alignment } = binding;
    const name = isInWorkspace(binding.name) ? 'workspace' : binding.name;
    const seen = tensors.get(name);
    tensors.set(name, {
      name,
      bytes: name === 'workspace' ? workspaceBytes : bytesOf(binding),
      alignment: Math.max(alignment, seen?.alignment ?? 1),
      access: seen?.access === 'read_write' ? 'read_write' : access,
    });
  }
  return [...tensors.values()];
}

function checkedSlice(
  ctx: GpuContext,
  { name, bytes, alignment }: PlanTensor,
  given: PlanBuffer | undefined,
): BufferSlice {
  const argument = `buffers.${name}`;
  if (!given) throw new InvalidArgumentError(argument, 'is missing');
  const slice = sliceOf(ctx, argument, given);
  const { buffer, offset = 0 } = slice;
  if (!Number.isInteger(offset) || offset < 0 || offset % alignment !== 0) {
    throw new InvalidArgumentError(
      `${argument}.offset`,
      `must be a multiple of ${alignment} bytes, got ${offset}`,
    );
  }
  // Shaders see whole words, so the last one must be there.
  if (bytes > 0 && Math.ceil((offset + bytes) / 4) * 4 > buffer.size) {
    throw new InvalidShapeError(
      argument,
      `needs ${bytes} bytes from offset ${offset}, but its buffer has ${buffer.size}`,
    );
  }
  if (!(buffer.usage & bufferUsage.STORAGE)) {
    throw new InvalidArgumentError(argument, `must have the usage STORAGE, got usage ${buffer.usage}`);
  }
  return slice;
}

function sliceOf(ctx: GpuContext, argument: string, given: PlanBuffer): BufferSlice {
  if (given instanceof GpuTensor) {
    const { buffer, byteOffset } = ctx.checkOwn(argument, given);
    return { buffer, offset: byteOffset };
  }
  return 'buffer' in given ? given : { buffer: given };
}

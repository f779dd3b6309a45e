import {
  elementCount,
  InvalidArgumentError,
  Tensor,
  type TensorDesc,
  UnsupportedError,
} from '@tilewise/core';
import type { TensorEngine } from '@tilewise/core/primitive';
import { NotAttention } from '../execution/attention-options.ts';
import { type BoundTensors, type Executable, prepareProgram } from '../execution/executable.ts';
import { KeptUploads } from '../execution/kept-uploads.ts';
import { type Bindable, checkBound, scalarTensor, storageDesc } from '../execution/storage.ts';
import type { LogicalTensor } from '../tensor/logical-tensor.ts';
import type { CompiledProgram } from './compile.ts';

/** Tensors by the id of the logical tensor. */
export type Bindings<V> = Readonly<Record<number, V>>;

/** A partition that is ready to run on an engine. */
export interface CompiledPartition<T extends TensorDesc = TensorDesc> {
  readonly inputs: readonly LogicalTensor[];
  /** With the shapes that were inferred. */
  readonly outputs: readonly LogicalTensor[];
  /** `attention`: one call of the engine's attention, no score matrix. `operations`: one primitive after the other. */
  readonly kernel: 'attention' | 'operations';
  /** Why what was recognised as attention does not run as such; empty when it does. */
  readonly reasons: readonly string[];
  /** Memory that it holds for intermediate results, until `release`. */
  readonly workspaceBytes: number;
  /**
   * Runs it.
   * @param bindings by tensor id: the engine's tensors, host tensors (which are uploaded), or numbers for scalars. Outputs may be
   * bound too; those that are not are allocated.
   * @returns the outputs by id.
   * @throws InvalidArgumentError, InvalidDTypeError or InvalidShapeError for a tensor that is missing or not as compiled.
   */
  execute(bindings: Bindings<Bindable<T>>): Promise<Record<number, T>>;
  /**
   * Records it in an encoder of the caller, on an engine that has such. Nothing is submitted, read back or allocated for tensors; a
   * number that has not been bound before takes a few bytes until `release`.
   * @param target on WebGPU a GPUCommandEncoder or GPUComputePassEncoder.
   * @param bindings as those of `execute`, the outputs among them; only scalars may be numbers or host tensors.
   * @throws what `execute` throws; UnsupportedError on an engine of the host, and for attention of packed sequences or in 8 bits.
   */
  encode(target: object, bindings: Bindings<Bindable<T>>): void;
  /** Frees its memory. What was encoded must have been submitted. */
  release(): void;
}

/** Makes a compiled program callable. */
export function compiledPartition<T extends TensorDesc>(
  engine: TensorEngine<T>,
  compiled: CompiledProgram,
  inputs: readonly LogicalTensor[],
  outputs: readonly LogicalTensor[],
): CompiledPartition<T> {
  const executable = prepareProgram(engine, compiled.program);
  let operations: Executable<T> | undefined;
  const resolved = (t: LogicalTensor): LogicalTensor => compiled.tensors.get(t.id) ?? t;
  const own = { inputs: inputs.map(resolved), outputs: outputs.map(resolved) };
  const kept = new KeptUploads(engine);
  // One execution at a time: they share the memory of the intermediate results.
  let last: Promise<unknown> = Promise.resolve();

  /** The operations one by one, for numbers that make something else of what was recognised. */
  function fallback(error: unknown): Executable<T> {
    if (!(error instanceof NotAttention) || !compiled.asOperations) throw error;
    operations ??= prepareProgram(engine, compiled.asOperations());
    return operations;
  }

  async function run(bindings: Bindings<Bindable<T>>): Promise<Record<number, T>> {
    const uploaded: T[] = [];
    const upload = (t: Tensor): T => {
      const there = engine.upload(t);
      if ((there as TensorDesc) !== t) uploaded.push(there);
      return there;
    };
    try {
      const allocate = (t: LogicalTensor): T => engine.primitives.allocate(storageDesc(t));
      const { bound, results } = bindAll(own, bindings, upload, allocate);
      try {
        await executable.run(bound);
      } catch (error) {
        await fallback(error).run(bound);
      }
      return results;
    } finally {
      for (const tensor of uploaded) engine.release(tensor);
    }
  }

  return {
    ...own,
    kernel: compiled.kernel,
    reasons: compiled.reasons,
    get workspaceBytes() {
      return executable.workspaceBytes + (operations?.workspaceBytes ?? 0);
    },
    execute(bindings) {
      const result = last.then(() => run(bindings));
      last = result.catch(() => undefined);
      return result;
    },
    encode(target, bindings) {
      if (!engine.recording) {
        throw new UnsupportedError(engine.name, ['an engine of the host has nothing to encode in']);
      }
      const { bound } = bindAll(own, bindings, t => kept.of(t), mustBeBound, demandScalar);
      try {
        executable.encode(target, bound);
      } catch (error) {
        fallback(error).encode(target, bound);
      }
    },
    release() {
      executable.release();
      operations?.release();
      kept.release();
    },
  };
}

/**
 * The tensors of a call, checked; what is on the host is uploaded when it is asked for, as its numbers may be all that is
 * needed.
 */
function bindAll<T extends TensorDesc>(
  { inputs, outputs }: Pick<CompiledPartition, 'inputs' | 'outputs'>,
  bindings: Bindings<Bindable<T>>,
  upload: (tensor: Tensor) => T,
  unbound: (output: LogicalTensor) => T,
  checkHost: (input: LogicalTensor, bound: Tensor) => void = () => {},
): { readonly bound: BoundTensors<T>; readonly results: Record<number, T> } {
  const tensors = new Map<number, T>();
  const onHost = new Map<number, Tensor>();
  for (const t of inputs) {
    const given = bindings[t.id];
    const tensor = typeof given === 'number' || typeof given === 'bigint' ? scalarTensor(t, given) : given;
    checkBound(t, tensor, storageDesc(t));
    if (tensor instanceof Tensor) {
      checkHost(t, tensor);
      onHost.set(t.id, tensor);
    } else tensors.set(t.id, tensor);
  }
  const results: Record<number, T> = {};
  for (const t of outputs) {
    if (tensors.has(t.id) || onHost.has(t.id)) continue;
    const given = bindings[t.id];
    if (typeof given === 'number' || typeof given === 'bigint') {
      throw new InvalidArgumentError(`tensor ${t.id}`, `is an output and cannot be the number ${given}`);
    }
    if (given !== undefined) checkBound(t, given, storageDesc(t));
    const tensor = (given as T | undefined) ?? unbound(t);
    results[t.id] = tensor;
    tensors.set(t.id, tensor);
  }
  const bound: BoundTensors<T> = {
    host: id => onHost.get(id),
    tensor(id) {
      const host = onHost.get(id);
      const known = tensors.get(id) ?? (host && upload(host));
      if (known === undefined) throw new InvalidArgumentError(`tensor ${id}`, 'is not bound');
      tensors.set(id, known);
      return known;
    },
  };
  return { bound, results };
}

function mustBeBound({ id }: LogicalTensor): never {
  throw new InvalidArgumentError(`tensor ${id}`, 'is an output and must be bound to be encoded');
}

function demandScalar({ id }: LogicalTensor, bound: Tensor): void {
  if (elementCount(bound.shape) <= 2) return;
  throw new InvalidArgumentError(
    `tensor ${id}`,
    'must be a tensor of the engine to be encoded, got one of the host',
  );
}

import { InvalidArgumentError, Tensor, type TensorDesc } from '@tilewise/core';
import type { TensorEngine } from '@tilewise/core/primitive';
import { NotAttention } from '../execution/attention-options.ts';
import { type Executable, prepareProgram } from '../execution/executable.ts';
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
  /** Frees its memory. */
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
  // One execution at a time: they share the memory of the intermediate results.
  let last: Promise<unknown> = Promise.resolve();

  async function run(bindings: Bindings<Bindable<T>>): Promise<Record<number, T>> {
    const from = new Map<number, T>();
    const scalars = new Map<number, Tensor>();
    const uploaded: T[] = [];
    try {
      for (const t of own.inputs) {
        const bound = bindings[t.id];
        const onHost =
          typeof bound === 'number' || typeof bound === 'bigint' ? scalarTensor(t, bound) : bound;
        checkBound(t, onHost, storageDesc(t));
        if (onHost instanceof Tensor) {
          scalars.set(t.id, onHost);
          const there = engine.upload(onHost);
          if ((there as TensorDesc) !== onHost) uploaded.push(there);
          from.set(t.id, there);
        } else from.set(t.id, onHost);
      }
      const results: Record<number, T> = {};
      const to = new Map<number, T>();
      for (const t of own.outputs) {
        const given = bindings[t.id];
        if (from.has(t.id)) continue;
        if (typeof given === 'number' || typeof given === 'bigint') {
          throw new InvalidArgumentError(`tensor ${t.id}`, `is an output and cannot be the number ${given}`);
        }
        if (given !== undefined) checkBound(t, given, storageDesc(t));
        const tensor = (given as T | undefined) ?? engine.primitives.allocate(storageDesc(t));
        results[t.id] = tensor;
        to.set(t.id, tensor);
      }
      try {
        await executable.run(from, to, scalars);
      } catch (error) {
        if (!(error instanceof NotAttention) || !compiled.asOperations) throw error;
        operations ??= prepareProgram(engine, compiled.asOperations());
        await operations.run(from, to, scalars);
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
    workspaceBytes: executable.workspaceBytes,
    execute(bindings) {
      const result = last.then(() => run(bindings));
      last = result.catch(() => undefined);
      return result;
    },
    release: () => {
      executable.release();
      operations?.release();
    },
  };
}

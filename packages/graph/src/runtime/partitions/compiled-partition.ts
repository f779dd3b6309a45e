import { type TensorDesc, UnsupportedError } from '@tilewise/core';
import type { WorkTrace } from '@tilewise/core/engine';
import type { TensorEngine } from '@tilewise/core/primitive';
import type { CompiledProgram } from '../../compile/compile.ts';
import { type Overwrites, overwritesOf } from '../../compile/overwrites.ts';
import type { LogicalTensor } from '../../ir/tensor/logical-tensor.ts';
import { withAllocatedOutputs } from '../bindings/allocated-outputs.ts';
import type { Bindable } from '../bindings/bindable.ts';
import {
  type Bindings,
  type Checked,
  checkEncodable,
  createCheckBindings,
  type Ends,
} from '../bindings/bindings.ts';
import { contents, Uploads } from '../bindings/uploads.ts';
import { type BoundTensors, boundTensors } from '../executable/bound-tensors.ts';
import { type Executable, prepareProgram } from '../executable/executable.ts';
import { SerialQueue } from '../serial-queue.ts';

/** A compiled partition, ready to run on an engine. */
export interface CompiledPartition<T extends TensorDesc = TensorDesc> {
  /** The inputs, with the shapes that the partition was compiled for. */
  readonly inputs: readonly LogicalTensor[];
  /** The outputs, with inferred shapes. */
  readonly outputs: readonly LogicalTensor[];
  /**
   * `attention`: one call of the engine's attention, without a score matrix. `operations`: a sequence of
   * primitives.
   */
  readonly kernel: 'attention' | 'operations';
  /** Why operations that were recognised as attention do not run as attention; empty if they do. */
  readonly reasons: readonly string[];
  /** Memory for intermediate results in bytes, held until `release`. */
  readonly workspaceBytes: number;
  /** Whether an output may be bound to the memory of an input; both are given by id. */
  overwrites(output: number, input: number): boolean;
  /**
   * Runs the partition after earlier executions.
   * @param bindings the inputs by tensor id: the engine's tensors, host tensors (which are uploaded), or
   * numbers for scalars. Outputs may be bound too; an unbound output is allocated.
   * @returns the outputs by id.
   * @throws InvalidArgumentError, InvalidDTypeError or InvalidShapeError for a tensor that is missing or
   * differs from the compiled description, a number that its dtype cannot hold, or an id that no tensor of
   * the graph has; InvalidArgumentError after `release`.
   */
  execute(bindings: Bindings<Bindable<T>>): Promise<Record<number, T>>;
  /**
   * Records the partition in the caller's encoder, on an engine that has encoders. Nothing is submitted or
   * read back, and no tensor is allocated; a number that is bound for the first time takes a few bytes until
   * `release`.
   * @param target on WebGPU, a GPUCommandEncoder or GPUComputePassEncoder.
   * @param bindings like those of `execute`, but with all outputs; only scalars may be numbers or host
   * tensors.
   * @throws the errors of `execute`; UnsupportedError on a host engine.
   */
  encode(target: object, bindings: Bindings<Bindable<T>>): void;
  /**
   * The part of `encode` that may fail: checks the bindings and prepares everything that depends on numbers.
   * @returns a function that records the partition in an encoder, on these bindings.
   * @throws the errors of `encode`, except those of the target.
   */
  prepareEncode(bindings: Bindings<Bindable<T>>): (target: object) => void;
  /**
   * Prepares to run the partition on tensors that a graph has checked, including the partition's outputs, so
   * that several partitions can run in one `batch` of the engine.
   * @returns a function that runs the partition, to be called before anything else runs; null if the
   * partition cannot run immediately, because a number must be read back first or another execution is in
   * progress.
   * @internal
   */
  prepareRun(bound: BoundTensors<T>): (() => void) | null;
  /**
   * Runs the partition on tensors that a graph has checked, including the partition's outputs, after earlier
   * executions.
   * @param trace receives the names of the steps that a host engine runs.
   * @returns a promise if the partition cannot run immediately.
   * @internal
   */
  runBound(bound: BoundTensors<T>, trace?: WorkTrace): Promise<void> | void;
  /**
   * Frees the memory after pending executions, unless another holder of the same partition still needs it.
   * Submit encoded work before this call. The partition cannot run afterwards.
   */
  release(): void;
}

/** Runs a compiled partition or graph once, then releases it. */
export async function executeOnce<T extends TensorDesc>(
  compiled: Pick<CompiledPartition<T>, 'execute' | 'release'>,
  bindings: Bindings<Bindable<T>>,
): Promise<Record<number, T>> {
  try {
    return await compiled.execute(bindings);
  } finally {
    compiled.release();
  }
}

/**
 * A compiled partition that several holders share; each holder checks that it has not released the partition.
 */
export interface SharedPartition<T extends TensorDesc> extends Omit<CompiledPartition<T>, 'encode'> {
  /** Lets go of the tensors of earlier runs, after pending executions. */
  unbind(): void;
}

/** Prepares a compiled program for an engine. */
export function sharedPartition<T extends TensorDesc>(
  engine: TensorEngine<T>,
  compiled: CompiledProgram,
  { inputs, outputs }: Pick<Ends, 'inputs' | 'outputs'>,
): SharedPartition<T> {
  const executable = prepareProgram(engine, compiled.program);
  let operations: Executable<T> | undefined;
  const resolved = (t: LogicalTensor): LogicalTensor => compiled.tensors.get(t.id) ?? t;
  // Recognised attention may have to run again as single operations, which need the inputs.
  const overwrites: Overwrites = compiled.asOperations ? () => false : overwritesOf(compiled.program);
  const own = { inputs: inputs.map(resolved), outputs: outputs.map(resolved), overwrites };
  const kept = new Uploads(engine, contents);
  const { check, release: forgetTensors } = createCheckBindings(engine.primitives, own);
  const turns = new SerialQueue('partition');

  /** The operations one by one, for numbers with which they are not the recognised attention. */
  function fallback(): Executable<T> {
    operations ??= prepareProgram(engine, compiled.asOperations?.() ?? compiled.program);
    return operations;
  }

  async function run(checked: Checked<T>): Promise<Record<number, T>> {
    const allocated = await withAllocatedOutputs(engine, checked.unbound, (results, uploads) =>
      runProgram(boundTensors(checked, t => uploads.of(t), results)),
    );
    const results: Record<number, T> = {};
    for (const { id } of own.outputs) results[id] = allocated[id] ?? (checked.onEngine.get(id) as T);
    return results;
  }

  /** Runs the program, or its operations one by one. */
  function runProgram(bound: BoundTensors<T>, trace?: WorkTrace): Promise<void> | void {
    const isDone = executable.run(bound, trace);
    if (isDone === true) return;
    return (async () => {
      if (!(await isDone)) await fallback().run(bound, trace);
    })();
  }

  /** Prepares the program, or its operations one by one. */
  function prepare(bound: BoundTensors<T>, isKept: boolean): () => void {
    const work = executable.prepare(bound, isKept) ?? fallback().prepare(bound, isKept);
    // Operations that run one by one accept all numbers.
    return work as () => void;
  }

  return {
    ...own,
    kernel: compiled.kernel,
    reasons: compiled.reasons,
    get workspaceBytes() {
      return executable.workspaceBytes + (operations?.workspaceBytes ?? 0);
    },
    async execute(bindings) {
      const checked = check(bindings);
      return turns.run(() => run(checked));
    },
    prepareEncode(bindings) {
      const { recording } = engine;
      if (!recording) {
        throw new UnsupportedError(engine.name, ['a host engine has no encoder: use execute']);
      }
      const checked = check(bindings);
      checkEncodable(checked);
      const bound = boundTensors(checked, t => kept.of(t));
      const record = prepare(bound, true);
      return target => recording.encode(target, record);
    },
    prepareRun: bound => (turns.isTaken || !executable.isRecordable(bound) ? null : prepare(bound, false)),
    runBound: (bound, trace) => turns.runSoon(() => runProgram(bound, trace)),
    unbind() {
      turns.runSoon(() => {
        forgetTensors();
        executable.unbind();
        operations?.unbind();
      });
    },
    release() {
      turns.release(() => {
        forgetTensors();
        executable.release();
        operations?.release();
        kept.release();
      });
    },
  };
}

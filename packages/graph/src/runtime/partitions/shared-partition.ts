import { type TensorDesc, UnsupportedError } from '@tilewise/core';
import type { WorkTrace } from '@tilewise/core/engine';
import type { TensorEngine } from '@tilewise/core/primitive';
import type { CompiledProgram } from '../../compile/compile.ts';
import { type Overwrites, overwritesOf } from '../../compile/overwrites.ts';
import type { LogicalTensor } from '../../ir/tensor/logical-tensor.ts';
import { withAllocatedOutputs } from '../bindings/allocated-outputs.ts';
import { type Checked, checkEncodable, createCheckBindings, type Ends } from '../bindings/bindings.ts';
import { contents, Uploads } from '../bindings/uploads.ts';
import { type BoundTensors, boundTensors } from '../executable/bound-tensors.ts';
import { type Executable, prepareProgram } from '../executable/executable.ts';
import { SerialQueue } from '../serial-queue.ts';
import type { CompiledPartition } from './compiled-partition.ts';

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
  let executable = prepareProgram(engine, compiled.program);
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

  /** Prepares the program again if the engine had no memory for it: by now, there may be memory. */
  function renew(): void {
    if (executable.isLost()) {
      const lost = executable;
      executable = prepareProgram(engine, compiled.program);
      lost.release();
    }
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
    renew();
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
    prepareRun(bound) {
      if (turns.isTaken) return null;
      renew();
      return executable.isRecordable(bound) ? prepare(bound, false) : null;
    },
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

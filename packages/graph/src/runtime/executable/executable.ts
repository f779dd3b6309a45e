import { InvalidArgumentError, type TensorDesc } from '@tilewise/core';
import type { WorkTrace } from '@tilewise/core/engine';
import type { BoundWork, TensorEngine } from '@tilewise/core/primitive';
import { fitToKernels } from '../../compile/attention/fit-to-kernels.ts';
import { planMemory } from '../../compile/memory-plan.ts';
import type { Program } from '../../ir/program/program.ts';
import { nameOf, prepareStep } from '../steps/prepare-step.ts';
import type { PreparedStep, StepContext } from '../steps/prepared-step.ts';
import { noWork } from '../steps/recurring-work.ts';
import { type BoundTensors, boundTo } from './bound-tensors.ts';
import { createChanges } from './changes.ts';
import { createHostNumbers } from './host-numbers.ts';
import { fixedTensors, recentViews } from './program-tensors.ts';
import { Scratch } from './scratch.ts';
import { allocateSlots, type Slots } from './shared-slots.ts';

/** A program with prepared steps and allocated temporaries. */
export interface Executable<T extends TensorDesc> {
  /** The bytes of temporaries and scratch memory. */
  readonly workspaceBytes: number;
  /**
   * Runs the program. Numbers that an attention call needs (scale, seed, …) but the host does not know are
   * read back from the engine.
   * @returns false if the operations with these numbers are not the recognised attention; the results are
   * then incomplete. A promise if a step is asynchronous or a number is read back.
   * @param trace receives the names of the steps that a host engine runs.
   */
  run(bound: BoundTensors<T>, trace?: WorkTrace): Promise<boolean> | boolean;
  /**
   * Whether all steps can be recorded immediately: no step is asynchronous, and the host knows all numbers
   * that attention needs.
   */
  isRecordable(bound: BoundTensors<T>): boolean;
  /**
   * Prepares the program to be recorded immediately.
   * @param isKept whether the prepared calls are kept until `release`, because a caller's encoder may be
   * submitted at any time.
   * @returns a function that runs the program, in a batch or an encoder; null if the operations with these
   * numbers are not the recognised attention.
   * @throws InvalidArgumentError if the host does not know a number that an attention call needs.
   */
  prepare(bound: BoundTensors<T>, isKept: boolean): (() => void) | null;
  /** Unbinds the steps from the tensors that recurred, so that the tensors can be reclaimed. */
  unbind(): void;
  release(): void;
}

/** A run of a program. */
interface Run<T> {
  readonly bound: BoundTensors<T>;
  readonly context: StepContext<T>;
  /** Numbers that were read back. */
  readonly read: Map<number, Float64Array>;
  /** True if every step last ran on the tensors of this run. */
  readonly isRepeated: boolean;
  readonly trace: WorkTrace | undefined;
}

/** Prepares a program for an engine; on an error it frees everything. */
export function prepareProgram<T extends TensorDesc>(
  engine: TensorEngine<T>,
  written: Program,
): Executable<T> {
  const { recording } = engine;
  const program = engine.prepareAttention ? fitToKernels(written, recording !== undefined) : written;
  const plan = planMemory(program);
  let slots: Slots<T> | undefined;
  const constants = new Map<number, T>();
  const steps: PreparedStep<T>[] = [];
  const scratch = new Scratch(engine);
  let fixed: (T | undefined)[];

  function release(): void {
    for (const step of steps) step.release();
    slots?.release();
    for (const t of constants.values()) engine.release(t);
    scratch.release();
  }

  try {
    program.values.forEach((value, n) => {
      if (value.kind === 'constant') constants.set(n, engine.upload(value.data));
    });
    for (const step of program.steps) steps.push(prepareStep(engine, program, step));
    scratch.atLeast(steps.reduce((most, { workspaceBytes }) => Math.max(most, workspaceBytes), 0));
    const isShared = steps.every(({ isRecorded, numbers }) => isRecorded && numbers.length === 0);
    slots = allocateSlots(engine, plan.slots, isShared);
    fixed = fixedTensors(engine, program, plan, slots.tensors, constants);
  } catch (error) {
    release();
    throw error;
  }

  const views = recentViews(engine, program.values);
  const hostNumbers = createHostNumbers(program);

  /** The context of steps; `read` contains numbers that were read back. */
  function contextOf(
    bound: BoundTensors<T>,
    read: ReadonlyMap<number, Float64Array> = new Map(),
  ): StepContext<T> {
    const found: (T | undefined)[] = [];
    const tensor = (n: number): T => {
      const known = fixed[n] ?? found[n];
      if (known) return known;
      const value = program.values[n];
      const made = value.kind === 'view' ? views.of(n, tensor(value.of)) : boundTo(value, bound);
      found[n] = made;
      return made;
    };
    return {
      tensor,
      numbers(n) {
        const known = read.get(n) ?? hostNumbers(n, bound);
        if (known) return known;
        const { kind } = program.values[n];
        throw new InvalidArgumentError(
          kind === 'input' ? `tensor ${program.values[n].tensor}` : 'bindings',
          'has a number that attention needs when it is recorded: bind a number or a host tensor',
        );
      },
      scratch: bytes => scratch.atLeast(bytes),
    };
  }

  const needed = steps.flatMap(step => step.numbers);
  const areRecorded = steps.every(step => step.isRecorded);
  const isRecordable = (bound: BoundTensors<T>): boolean =>
    areRecorded && needed.every(n => hostNumbers(n, bound) !== undefined);
  const changes = createChanges(program, steps);
  /** The work of all steps on the tensors of the last run. */
  let whole: BoundWork | null = null;

  /** Joins the work of all steps; null if a step has no bound work, or if the engine joins none. */
  function joinWork(): BoundWork | null {
    const works = steps.flatMap(({ work }) => work ?? []);
    if (works.length < steps.length) return null;
    return engine.primitives.join?.(works.filter(work => work !== noWork)) ?? null;
  }

  /** Runs the steps from one on, until one is asynchronous or needs a number that the host does not know. */
  function runFrom(first: number, run: Run<T>): Promise<boolean> | boolean {
    const { bound, context, read, trace } = run;
    for (let n = first; n < steps.length; n++) {
      for (const value of steps[n].numbers) {
        if (read.has(value) || hostNumbers(value, bound)) continue;
        return engine.download(context.tensor(value)).then(numbers => {
          read.set(value, numbers.toFloat64());
          return runFrom(n, run);
        });
      }
      const done = trace && !recording ? traceStep(n, run, trace) : runStep(n, run);
      if (typeof done !== 'boolean') return done.then(isDone => isDone && runFrom(n + 1, run));
      if (!done) return false;
    }
    return true;
  }

  function runStep(
    n: number,
    { context, isRepeated }: Pick<Run<T>, 'context' | 'isRepeated'>,
  ): Promise<boolean> | boolean {
    const work = isRepeated && steps[n].work;
    if (!work) return steps[n].run(context, changes.isSame(n));
    work.run();
    return true;
  }

  /** Runs a step on the host, and names it in a trace. */
  function traceStep(n: number, run: Run<T>, trace: WorkTrace): Promise<boolean> | boolean {
    const leave = trace.enter(nameOf(program.steps[n]));
    let done: Promise<boolean> | boolean = false;
    try {
      done = runStep(n, run);
    } finally {
      if (typeof done === 'boolean') leave();
    }
    return typeof done === 'boolean' ? done : done.finally(leave);
  }

  function prepare(bound: BoundTensors<T>, isKept: boolean): (() => void) | null {
    const context = contextOf(bound);
    for (const n of needed) context.numbers(n);
    if (steps.some(step => step.ready?.(context.numbers, isKept) === false)) return null;
    if (isKept) {
      return () => {
        for (const step of steps) step.run(context, false);
      };
    }
    return () => {
      const isRepeated = changes.begin(bound);
      for (let n = 0; n < steps.length; n++) runStep(n, { context, isRepeated });
    };
  }

  function unbind(): void {
    for (const step of steps) step.unbind?.();
    whole = null;
    changes.release();
    views.clear();
  }

  return {
    get workspaceBytes() {
      return plan.bytes + scratch.bytes;
    },
    isRecordable,
    prepare,
    run(bound, trace) {
      if (recording && isRecordable(bound)) {
        const work = prepare(bound, false);
        if (work) engine.batch(work);
        return work !== null;
      }
      const read = new Map<number, Float64Array>();
      const isRepeated = changes.begin(bound);
      whole = isRepeated ? (whole ?? joinWork()) : null;
      if (whole && !trace) {
        whole.run();
        return true;
      }
      return runFrom(0, { bound, context: contextOf(bound, read), read, isRepeated, trace });
    },
    unbind,
    release() {
      unbind();
      release();
    },
  };
}

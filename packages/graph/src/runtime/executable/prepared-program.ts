import type { TensorDesc } from '@tilewise/core';
import type { TensorEngine } from '@tilewise/core/primitive';
import { planMemory } from '../../compile/memory-plan.ts';
import type { Program } from '../../ir/program/program.ts';
import { prepareStep } from '../steps/prepare-step.ts';
import type { PreparedStep } from '../steps/prepared-step.ts';
import { fixedTensors } from './program-tensors.ts';
import { Scratch } from './scratch.ts';
import { allocateSlots, type Slots } from './shared-slots.ts';

/** The prepared steps of a program, and the memory that they use. */
export interface PreparedProgram<T extends TensorDesc> {
  readonly steps: readonly PreparedStep<T>[];
  /** The temporaries, constants and their views, by value index. */
  readonly fixed: readonly (T | undefined)[];
  readonly scratch: Scratch<T>;
  /** The bytes of the temporaries. */
  readonly bytes: number;
  /** Whether the engine had no memory for a temporary, a constant or the scratch memory. */
  isLost(): boolean;
  release(): void;
}

/** Prepares the steps of a program and allocates its temporaries; on an error it frees everything. */
export function prepareSteps<T extends TensorDesc>(
  engine: TensorEngine<T>,
  program: Program,
): PreparedProgram<T> {
  const plan = planMemory(program, engine.recording !== undefined);
  const constants = new Map<number, T>();
  const steps: PreparedStep<T>[] = [];
  const scratch = new Scratch(engine);
  let slots: Slots<T> | undefined;

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
    const fixed = fixedTensors(engine, program, plan, slots.tensors, constants);
    const memory = [...slots.tensors, ...constants.values()];
    const isLost = (): boolean =>
      scratch.isLost() || memory.some(tensor => engine.primitives.isLost?.(tensor));
    return { steps, fixed, scratch, bytes: plan.bytes, isLost, release };
  } catch (error) {
    release();
    throw error;
  }
}

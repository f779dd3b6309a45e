import { taskKinds } from '../team/tasks.ts';
import type { Step } from './step.ts';

/** A step that writes the same word to `count` consecutive words, from an address on. */
export function fillStep(word: number, at: number, count: number): Step {
  return {
    size: 0,
    worth: { awake: Infinity, asleep: Infinity },
    tasks: threads => (threads === 1 ? [[taskKinds.fill, word, at, count]] : null),
  };
}

/** The bits of an f32. */
export function bitsOf(x: number): number {
  return new Int32Array(Float32Array.of(x).buffer)[0];
}

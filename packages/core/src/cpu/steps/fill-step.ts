import { taskKinds } from '../team/tasks.ts';
import { type Step, undividedStep } from './step.ts';

/** A step that writes the same word to `count` consecutive words, from an address on. */
export function fillStep(word: number, at: number, count: number): Step {
  return undividedStep(() => [taskKinds.fill, word, at, count]);
}

/** The bits of an f32. */
export function bitsOf(x: number): number {
  return new Int32Array(Float32Array.of(x).buffer)[0];
}

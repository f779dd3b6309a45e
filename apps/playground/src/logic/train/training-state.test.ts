import { expect, it } from 'vitest';
import { heard, restored, stepsAlike, untrained } from './training-state.ts';

const step = (loss: number) => ({ kind: 'step', loss, accuracy: 0.5, ms: 3 }) as const;
const setup = { engine: 'cpu', text: null, seed: 1, layers: 1, heads: 1, dim: 16, dropout: 0 } as const;

it('keeps the losses in order, and the latest of everything else', () => {
  const state = heard({ ...untrained, status: 'running', losses: [5] }, [
    step(4),
    { kind: 'held out', step: 2, loss: 4.5, accuracy: 0.1 },
    step(3),
    { kind: 'paused' },
  ]);
  expect(state.losses).toEqual([5, 4, 3]);
  expect(state.heldOut).toHaveLength(1);
  expect(state.status).toBe('paused');
});

it('a question that is refused does not end the run', () => {
  const state = heard({ ...untrained, status: 'running' }, [{ kind: 'refused', unknown: ['Ω'] }]);
  expect(state.status).toBe('running');
  expect(state.refused).toEqual(['Ω']);
});

it('keeps the prompt of an answer with its text', () => {
  const state = heard({ ...untrained, status: 'running' }, [
    { kind: 'sampled', prompt: 'to ', text: 'be', done: true },
  ]);
  expect(state.sample).toEqual({ prompt: 'to ', text: 'be', done: true });
});

it('repeats the steps of a saved run without counting them twice', () => {
  const held = { step: 2, loss: 4.5, accuracy: 0.1 };
  const kept = restored({ setup, losses: [5, 4], accuracies: [0, 0], heldOut: [held] });
  const state = heard(kept, [step(5), step(4), { kind: 'held out', ...held }, step(3)]);
  expect(kept).toMatchObject({ status: 'paused', again: 2, setup });
  expect(state).toMatchObject({ again: 0, losses: [5, 4, 3] });
  expect(state.heldOut).toEqual([held]);
});

it('counts the steps in which two runs have equal losses', () => {
  expect(stepsAlike([3, 2, 1], [3, 2])).toBe(2);
  expect(stepsAlike([3, 2, 1], [3, 2.0000001, 1])).toBe(1);
});

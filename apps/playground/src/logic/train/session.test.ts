import { cpuEngine } from '@tilewise/core/cpu';
import type { TensorEngine } from '@tilewise/core/primitive';
import { describe, expect, it } from 'vitest';
import { beginSession, type Session } from './session.ts';
import { fewestCharacters, type TrainEvent, type TrainSetup } from './training.ts';

const setup: TrainSetup = {
  engine: 'cpu',
  text: null,
  seed: 3,
  layers: 1,
  heads: 2,
  dim: 16,
  dropout: 0.1,
};

function begin(changed: Partial<TrainSetup> = {}): { session: Session; events: TrainEvent[] } {
  const events: TrainEvent[] = [];
  const engine = cpuEngine() as unknown as TensorEngine;
  return { session: beginSession({ ...setup, ...changed }, engine, event => events.push(event)), events };
}

const losses = (events: readonly TrainEvent[]): number[] =>
  events.flatMap(event => (event.kind === 'step' ? [event.loss] : []));

describe('a run', () => {
  it('gives the same losses by steps with a question in between as at once', async () => {
    const whole = begin();
    whole.session.take({ kind: 'run', steps: 4 });
    await whole.session.idle();
    const parts = begin();
    parts.session.take({ kind: 'run', steps: 1 });
    await parts.session.idle();
    parts.session.take({ kind: 'sample', prompt: 'A1B2A', count: 1, temperature: 1 });
    parts.session.take({ kind: 'run', steps: 3 });
    await parts.session.idle();
    expect(losses(parts.events)).toEqual(losses(whole.events));
    expect(losses(whole.events)).toHaveLength(4);
  }, 30_000);

  it('trains on a text with the minimum number of characters, and refuses a shorter text', () => {
    const text = 'ab😀'.repeat(fewestCharacters / 3);
    expect([...text]).toHaveLength(fewestCharacters);
    expect(() => begin({ text })).not.toThrow();
    expect(() => begin({ text: text.slice(1) })).toThrow(/at least 24 characters/);
  });

  it('stops between steps when it is paused', async () => {
    const { session, events } = begin();
    session.take({ kind: 'run', steps: 1000 });
    session.take({ kind: 'pause' });
    await session.idle();
    expect(losses(events).length).toBeLessThan(3);
    expect(events.some(({ kind }) => kind === 'paused')).toBe(true);
  });

  it('shows what its tokens attend to before the first step', async () => {
    const { session, events } = begin();
    session.take({ kind: 'pause' });
    await session.idle();
    const [maps] = events.flatMap(event => (event.kind === 'maps' ? [event.moment] : []));
    expect(maps?.step).toBe(0);
    const [layer] = maps?.layers ?? [];
    expect(layer?.heads).toBe(2);
    expect(layer?.S).toBe(session.probe.length);
    const firstRow = layer?.values.subarray(0, layer.S) ?? [];
    expect([...firstRow].reduce((sum, p) => sum + p, 0)).toBeCloseTo(1, 5);
  }, 30_000);

  it('refuses a prompt that it cannot read, and continues', async () => {
    const { session, events } = begin({ text: 'to be or not to be. '.repeat(40) });
    session.take({ kind: 'sample', prompt: 'to Ω', count: 1, temperature: 0 });
    session.take({ kind: 'sample', prompt: 'to ', count: 3, temperature: 0 });
    await session.idle();
    expect(events.filter(event => event.kind === 'refused')).toEqual([{ kind: 'refused', unknown: ['Ω'] }]);
    expect(events.some(event => event.kind === 'sampled' && event.done && event.text.length === 3)).toBe(
      true,
    );
  });
});

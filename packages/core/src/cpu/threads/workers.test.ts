import { expect, test, vi } from 'vitest';
import { createWorkers } from './workers.ts';

vi.mock('./worker-source.ts', () => {
  throw new Error('the network is down');
});

test('there are no workers if their script cannot be loaded', async () => {
  const workers = createWorkers(2, 'typescript', () => {});
  expect(workers.pool).toBe(undefined);
  expect(await workers.started()).toBe(null);
  expect(workers.pool).toBe(null);
});

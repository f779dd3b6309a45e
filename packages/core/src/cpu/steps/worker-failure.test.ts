import { expect, test, vi } from 'vitest';
import type { BoundWork } from '../../primitive/index.ts';
import { bestVariant } from '../kernels/host-kernels.ts';
import { taskKinds } from '../team/tasks.ts';
import type { Team } from '../team/team.ts';

// Other test files replace modules, and the files share what is loaded: these modules must know one
// WorkerFailure.
vi.resetModules();
const { WorkerFailure } = await import('../threads/pool.ts');
const { bindSteps } = await import('./bound-steps.ts');
const { cpuEngine } = await import('../engine.ts');

test('if a worker fails, the calling thread runs a step that can run again, and no other step', () => {
  const variant = bestVariant();
  const { primitives } = cpuEngine({ threads: 1 });
  const to = primitives.allocate({ dtype: 'i32', shape: [16] });
  const run = vi.fn(() => {
    throw new WorkerFailure('this test lets it fail');
  });
  const team: Team = { threads: 2, isAwake: true, run, disband: () => {} };
  const bound = (isRepeatable: boolean): BoundWork | null =>
    bindSteps(variant, team, () => [
      {
        ...{ size: 1, sharedFrom: { awake: 1, asleep: 1 }, isRepeatable },
        tasks: () => [[taskKinds.fill, 7, to.data.byteOffset, 16]],
      },
    ]);
  for (const isRepeatable of [true, false]) {
    const work = bound(isRepeatable);
    // The first run finds the team, and the second has tasks for two threads.
    work?.run();
    to.data.fill(0);
    if (isRepeatable) work?.run();
    else expect(() => work?.run()).toThrow(WorkerFailure);
    expect([...to.data]).toEqual(new Array(16).fill(isRepeatable ? 7 : 0));
    work?.release();
  }
  expect(run).toHaveBeenCalledTimes(2);
});

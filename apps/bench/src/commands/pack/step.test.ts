import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runStep, runSteps, type Step } from './step.ts';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tilewise-steps-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const node = (name: string, script: string, seconds = 20): Step => ({
  ...{ name, command: process.execPath, args: ['-e', script], seconds },
});
const fileOf = (name: string): Promise<string> => readFile(join(folder, name), 'utf8');

test('results and error output are stored separately', async () => {
  const step = node('both', 'console.log(process.env.WORD); console.error("so")');
  const { result } = await runStep({ ...step, env: { WORD: 'row' } }, folder);
  expect(result).toBe('done');
  expect(await fileOf('both.out')).toBe('row\n');
  expect(await fileOf('both.log')).toBe('so\n');
});

test.runIf(process.platform === 'linux')(
  'a step that takes too long keeps its output, and its child processes end with it',
  async () => {
    const script = `
    const { pid } = require('node:child_process').spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
    console.log(pid);
    setInterval(() => {}, 1000);`;
    const { result } = await runStep(node('late', script, 2), folder);
    expect(result).toBe('ended after 2 s');
    const pid = Number(await fileOf('late.out'));
    expect(pid).toBeGreaterThan(0);
    await expect.poll(() => isAlive(pid)).toBe(false);
  },
);

test('a step that fails or is missing does not stop the others', async () => {
  const steps = [
    node('fails', 'process.exit(3)'),
    { ...node('nowhere', ''), command: join(folder, 'nothing') },
    node('last', ''),
  ];
  const outcomes = await runSteps(steps, folder, 60, () => {});
  expect(outcomes.map(({ result }) => result)).toEqual([
    'failed with 3',
    expect.stringMatching(/^did not start: .*ENOENT/),
    'done',
  ]);
});

test('steps are left out when the total time is used up', async () => {
  const [outcome] = await runSteps([node('never', '')], folder, 4, () => {});
  expect(outcome).toEqual({ step: 'never', seconds: 0, result: 'left out: no time' });
});

/** A process that has ended but whose parent has not noticed yet counts as dead. */
async function isAlive(pid: number): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => ') Z');
  return !/\) [ZX]/.test(stat);
}

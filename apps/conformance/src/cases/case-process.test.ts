import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { argumentsOfCaseProcess, type CaseProcess, caseProcess } from './case-process.ts';

const cases = [{ name: 'a' }, { name: 'b' }, { name: 'c' }];

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tilewise-case-process-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const started: CaseProcess[] = [];
afterEach(() => {
  for (const one of started.splice(0)) one.close();
});

/** A process that reacts to the number of a case, `index`, as the given statements say. */
async function processOf(react: string): Promise<CaseProcess> {
  const program = join(folder, `${started.length}.mjs`);
  await writeFile(
    program,
    `process.on('message', index => { ${react} });
     process.on('disconnect', () => process.exit());`,
  );
  const made = caseProcess(program, ['cudnn', '--json'], cases);
  started.push(made);
  return made;
}

test('a process runs one case after the other, and passes on infinities and NaN', async () => {
  const { run } = await processOf(
    `process.send({ case: 'b', status: 'pass', error: index ? NaN : Infinity, reason: process.argv.slice(2).join(' '), ms: 1 });`,
  );
  expect(await run(0)).toEqual({
    ...{ case: 'b', status: 'pass', error: Number.POSITIVE_INFINITY },
    ...{ reason: 'case-process cudnn --json', ms: 1 },
  });
  expect((await run(1)).error).toBeNaN();
});

test('a process that crashes fails only its current case', async () => {
  const { run } = await processOf(
    `if (index === 1) process.kill(process.pid, 'SIGKILL');
     else process.send({ case: 'c', status: 'pass', error: 0, reason: null, ms: 1 });`,
  );
  expect(await run(1)).toMatchObject({
    ...{ case: 'b', status: 'fail', reason: 'its process ended with SIGKILL' },
  });
  expect((await run(2)).status).toBe('pass');
});

test('the program of a command line is not a process of cases', () => {
  expect(argumentsOfCaseProcess(['cudnn', '--cases', 'file'])).toBeUndefined();
});

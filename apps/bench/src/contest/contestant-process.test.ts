import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { ContestantProcess } from './contestant-process.ts';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tilewise-contestant-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const started: ContestantProcess[] = [];
afterEach(() => {
  for (const one of started.splice(0)) one.end();
});

/** A contestant that reacts to a question as the text of a function says. */
async function contestant(react: string, patience = 20): Promise<ContestantProcess> {
  const program = join(folder, `${started.length}.mjs`);
  await writeFile(program, `process.on('message', ${react});`);
  const made = new ContestantProcess({ name: 'one', folder: '', device: {}, patience, program });
  started.push(made);
  made.start();
  return made;
}

test('tensors cross as they are', async () => {
  const values = new Float32Array([1.5, -0, Number.NaN]);
  const one = await contestant(
    `() => process.send({ value: [{ shape: [3], values: new Float32Array([1.5, -0, NaN]) }] })`,
  );
  expect(await one.ask('results', 'forward')).toEqual([{ shape: [3], values }]);
});

test('an error there is an error here, and the next question is answered', async () => {
  const one = await contestant(
    `({ question }) => process.send(question === 'close' ? { value: 0 } : { failure: 'no such operator' })`,
  );
  await expect(one.ask('introduce')).rejects.toThrow('no such operator');
  await one.ask('close');
});

test('what does not answer in time is ended', async () => {
  const one = await contestant('() => {}', 0.5);
  await expect(one.ask('introduce')).rejects.toThrow('no answer within 0.5 s');
  expect(one.running).toBe(false);
  await expect(one.ask('introduce')).rejects.toThrow('its process has ended');
});

test('what dies says its last words', async () => {
  const one = await contestant(`() => { console.error('the device is lost'); process.exit(3); }`);
  await expect(one.ask('introduce')).rejects.toThrow('its process ended with 3: the device is lost');
  expect(one.running).toBe(false);
});

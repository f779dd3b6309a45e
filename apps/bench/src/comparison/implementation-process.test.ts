import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { ImplementationProcess } from './implementation-process.ts';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tilewise-implementation-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const started: ImplementationProcess[] = [];
afterEach(() => {
  for (const one of started.splice(0)) one.end();
});

/** An implementation that answers each question as the source of a function says. */
async function implementation(react: string, timeout = 20): Promise<ImplementationProcess> {
  const program = join(folder, `${started.length}.mjs`);
  await writeFile(program, `process.on('message', ${react});`);
  const made = new ImplementationProcess({ name: 'one', folder: '', device: {}, timeout, program });
  started.push(made);
  made.start();
  return made;
}

test('tensors are passed to the process unchanged', async () => {
  const values = new Float32Array([1.5, -0, Number.NaN]);
  const one = await implementation(
    `() => process.send({ value: [{ shape: [3], values: new Float32Array([1.5, -0, NaN]) }] })`,
  );
  expect(await one.ask('results', 'forward')).toEqual([{ shape: [3], values }]);
});

test('an error in the process rejects the request, and the next request is answered', async () => {
  const one = await implementation(
    `({ question }) => process.send(question === 'close' ? { value: 0 } : { failure: 'no such operator' })`,
  );
  await expect(one.ask('introduce')).rejects.toThrow('no such operator');
  await one.ask('close');
});

test('a process that does not answer in time is ended', async () => {
  const one = await implementation('() => {}', 0.5);
  await expect(one.ask('introduce')).rejects.toThrow('no answer within 0.5 s');
  expect(one.running).toBe(false);
  await expect(one.ask('introduce')).rejects.toThrow('its process has ended');
});

test('the error of a crashed process has the last line that it wrote', async () => {
  const one = await implementation(`() => { console.error('the device is lost'); process.exit(3); }`);
  await expect(one.ask('introduce')).rejects.toThrow('its process ended with 3: the device is lost');
  expect(one.running).toBe(false);
});

import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { decodeCheckpoint } from '../checkpoint.ts';
import { runCommand } from './command.ts';

const small = ['--engine', 'cpu', '--batch', '2'];
const tiny = [...small, '--dim', '8', '--heads', '2', '--layers', '1'];
let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'train-'));
});
afterAll(() => rm(folder, { recursive: true }));

async function run(...args: string[]) {
  let stdout = '';
  let stderr = '';
  const code = await runCommand(args, {
    out: { write: (text: string) => (stdout += text) },
    error: { write: (text: string) => (stderr += text) },
    env: {},
  });
  return { code, stdout, stderr };
}

test('--json prints one line with the promised fields and nothing else', async () => {
  const { code, stdout } = await run('--json', '--steps', '2', '--seed', '3', ...small);
  expect(code).toBe(0);
  expect(stdout.endsWith('\n')).toBe(true);
  const result = JSON.parse(stdout);
  expect(result).toEqual({
    engine: 'cpu',
    adapter: expect.any(String),
    steps: 2,
    lossFirst: expect.any(Number),
    lossLast: expect.any(Number),
    accuracy: expect.any(Number),
    seconds: expect.any(Number),
  });
  expect(result.lossFirst).toBeGreaterThan(2);
});

test('without it, says which engine and why, and draws the head', async () => {
  const { stdout, stderr } = await run('--steps', '1', ...tiny);
  expect(stdout).toMatch(/^Engine: cpu on .*, as asked\.\n/);
  expect(stdout).toContain('↑ queries');
  expect(stdout).toMatch(/not yet learned .* has \d+% of its attention there/s);
  expect(stderr).toMatch(/^step 1\/1 {2}loss .* right {2}\d+ ms a step/);
});

test('learns a text, saves, loads, continues training and completes a prompt, the same each time', async () => {
  const [text, weights] = [join(folder, 'text'), join(folder, 'weights.safetensors')];
  await writeFile(text, 'the quick brown fox jumps over the lazy dog. '.repeat(5));
  const size = ['--context', '8', '--text', text];
  const trained = await run('--steps', '3', '--save', weights, '--length', '4', ...tiny, ...size);
  expect(trained.code).toBe(0);
  expect(trained.stdout).toMatch(/Task: the next character of a text of 225 characters, 28 different ones/);
  expect(await decodeCheckpoint(await readFile(weights))).toMatchObject({ task: 'text', steps: 3 });

  const ask = ['--engine', 'cpu', '--load', weights, '--sample', 'the ', '--length', '6', '--top-k', '3'];
  const asked = await run(...ask);
  const [, continued] = /(the .{6})\n$/.exec(asked.stdout) ?? [];
  expect(continued).toHaveLength(10);
  expect((await run(...ask)).stdout).toBe(asked.stdout);

  const further = await run('--load', weights, '--text', text, '--steps', '2', '--save', weights, ...small);
  expect(further.stdout).toContain('Trained 2 steps');
  expect((await decodeCheckpoint(await readFile(weights))).steps).toBe(5);
});

test('a command line that is not understood gives exit code 2, the usage, and last the reason', async () => {
  const { code, stdout, stderr } = await run('--fast');
  expect(code).toBe(2);
  expect(stdout).toBe('');
  expect(stderr).toMatch(/Usage: pnpm demo[\s\S]*'--fast'.*\n$/);
});

test('a file that is missing or not a checkpoint gives exit code 1 and a message', async () => {
  const missing = await run('--load', join(folder, 'none'), '--engine', 'cpu');
  expect([missing.code, missing.stderr]).toEqual([1, expect.stringContaining('none')]);
  const other = join(folder, 'other');
  await writeFile(other, 'hello');
  const { stderr } = await run('--load', other, '--engine', 'cpu');
  expect(stderr.startsWith(`${other} is not a safetensors file`)).toBe(true);
});

test('--help prints the usage', async () => {
  const { code, stdout } = await run('--help');
  expect(code).toBe(0);
  expect(stdout).toMatch(/Usage: pnpm demo/);
});

import { expect, test } from 'vitest';
import { runCommand } from './command.ts';

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
  const { code, stdout } = await run('--json', '--steps', '2', '--engine', 'cpu', '--seed', '3');
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
  const { stdout, stderr } = await run('--steps', '1', '--engine', 'cpu');
  expect(stdout).toMatch(/^Engine: cpu on .*, as asked\.\n/);
  expect(stdout).toContain('↑ queries');
  expect(stdout).toMatch(/induction head has \d+% of its attention there/);
  expect(stderr).toMatch(/^step 1\/1 /);
});

test('a command line that is not understood gives exit code 2 and the usage', async () => {
  const { code, stdout, stderr } = await run('--fast');
  expect(code).toBe(2);
  expect(stdout).toBe('');
  expect(stderr).toMatch(/--fast[\s\S]*Usage: pnpm demo/);
});

test('--help prints the usage', async () => {
  const { code, stdout } = await run('--help');
  expect(code).toBe(0);
  expect(stdout).toMatch(/Usage: pnpm demo/);
});

import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Steps, TrainingRun } from './training-run.ts';

/**
 * A program that trains a case in another process: each line of its input is a number of steps, and each line
 * of its output is a JSON answer, the first one with its name and version.
 * @throws Error with the program's output, if the program ends.
 */
export async function peerRun(command: string, args: readonly string[]): Promise<TrainingRun> {
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'pipe'] });
  let said = '';
  child.stderr.on('data', (text: Buffer) => {
    said = (said + text).slice(-2000);
  });
  const ended = new Promise<never>((_, reject) => {
    child.on('error', reject);
    child.on('close', code =>
      reject(new Error(`${command} ended with ${code}: ${said.trim().split('\n').at(-1)}`)),
    );
  });
  ended.catch(() => {});
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const answer = async <A>(): Promise<A> => {
    const { value, done } = await Promise.race([lines.next(), ended]);
    return done ? ended : (JSON.parse(value) as A);
  };
  const { name, version } = await answer<{ readonly name: string; readonly version: string }>();
  return {
    name: `${name} ${version}`.trim(),
    async steps(count) {
      child.stdin.write(`${count}\n`);
      return answer<Steps>();
    },
    close: () => child.kill(),
  };
}

import { expect, test } from 'vitest';
import { createProgress } from './progress.ts';

function run(isTTY: boolean, steps: number): string {
  let written = '';
  let ms = 0;
  const output = { isTTY, write: (text: string) => (written += text) };
  const progress = createProgress(output, steps, () => ms);
  for (let step = 0; step < steps; step++) {
    ms += 100;
    progress({ loss: 2, accuracy: 0.25 });
  }
  return written;
}

test('is about ten plain lines where a line cannot be drawn again', () => {
  const lines = run(false, 200).trimEnd().split('\n');
  expect(lines).toHaveLength(11);
  expect(lines[0]).toBe('step 1/200  loss 2.000  25% right  100 ms a step  0 s, 20 s left');
  expect(lines[10]).toBe('step 200/200  loss 2.000  25% right  100 ms a step  20 s, 0 s left');
});

test('is one line drawn again and again on a terminal', () => {
  const written = run(true, 4);
  expect(written.match(/\n/g)).toHaveLength(1);
  expect(written.split('\r')[3]).toBe(
    '\x1b[2K██████████████████░░░░░░  step 3/4  loss 2.000  25% right  100 ms a step  0 s, 0 s left',
  );
  expect(written).toContain('████████████████████████  step 4/4');
});

import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { fullPython, hasModule, runPython } from '../../../testing/python-cases.ts';

const room = fileURLToPath(new URL('.', import.meta.url));
const fixtures = fileURLToPath(new URL('../../../../../fixtures/philox', import.meta.url));
// Without a Python that has JAX, and without `TILEWISE_TORCH=full`, these are reported as skipped.
const withJax = test.skipIf(!(await hasModule('jax', fullPython)));
const timeout = 900_000;

withJax('the Python files draw the masks of Philox, bit for bit', { timeout }, async () => {
  await runPython(['-m', 'compileall', '-q', 'python'], room);
  await runPython(['-m', 'python.test_philox', fixtures], room);
});

withJax.each([1, 2, 4, 8])(
  'attention on %i devices is dense attention, with every option',
  { timeout },
  async ranks => {
    const printed = await runPython(['-m', 'python.test_attention', `${ranks}`], room);
    expect(printed).toContain(`${ranks} ranks: 14 cases`);
  },
);

withJax('memory falls with the number of devices, and holds no scores', { timeout }, async () => {
  expect(await runPython(['-m', 'python.test_memory'], room)).toContain('4 need');
});

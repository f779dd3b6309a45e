import { fileURLToPath } from 'node:url';
import { fullPython, hasModule, runPython } from '@tilewise/test-data/python';
import { expect, test } from 'vitest';

const project = fileURLToPath(new URL('../../..', import.meta.url));
const fixtures = fileURLToPath(new URL('../../../../../fixtures/philox', import.meta.url));
// Without a Python that has JAX, and without `TILEWISE_TORCH=full`, these are reported as skipped.
const withJax = test.skipIf(!(await hasModule('jax', fullPython)));
const timeout = 900_000;

withJax('the Python files draw the masks of Philox, bit for bit', { timeout }, async () => {
  await runPython(['-m', 'compileall', '-q', 'src/formats/jax/python'], project);
  await runPython(['-m', 'src.formats.jax.python.test_philox', fixtures], project);
});

withJax(
  'attention on 1, 2, 4 and 8 devices is dense attention, with every option',
  { timeout: 3 * timeout },
  async () => {
    const printed = await runPython(['-m', 'src.formats.jax.python.attention.test_attention'], project);
    for (const devices of [1, 2, 4, 8]) expect(printed).toContain(`${devices} devices: 24 cases`);
  },
);

withJax('memory falls with the number of devices, and holds no scores', { timeout }, async () => {
  expect(await runPython(['-m', 'src.formats.jax.python.attention.test_memory'], project)).toContain(
    '4 need',
  );
});

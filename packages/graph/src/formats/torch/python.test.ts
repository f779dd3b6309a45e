import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { fullPython, hasModule, python, runPython } from '../../../testing/python/python-cases.ts';

const project = fileURLToPath(new URL('../../..', import.meta.url));
const fixtures = fileURLToPath(new URL('../../../../../fixtures/philox', import.meta.url));
const timeout = 600_000;

test.skipIf(python === undefined)(
  'the Python files compile, and draw the masks of Philox',
  { timeout },
  async () => {
    await runPython(['-m', 'compileall', '-q', 'src/formats/torch/python'], project);
    await runPython(['-m', 'src.formats.torch.python.test_philox', fixtures], project);
  },
);

test.skipIf(python === undefined)(
  'a block gets the best kernel of its device, and those of CUDA what their schemas say',
  { timeout },
  async () => {
    await runPython(['-m', 'src.formats.torch.python.attention.test_kernels'], project);
  },
);

test.skipIf(!(await hasModule('ruff', python)))(
  'a linter finds nothing to say about the Python files',
  async () => {
    await runPython(['-m', 'ruff', 'check', '.'], project);
    await runPython(['-m', 'ruff', 'format', '--check', '.'], project);
  },
);

test.skipIf(fullPython === undefined).each([1, 2, 3, 4, 8])(
  'attention on %i ranks is dense attention, with every option and in both orders',
  { timeout },
  async ranks => {
    const printed = await runPython(
      ['-m', 'src.formats.torch.python.attention.test_attention', `${ranks}`],
      project,
    );
    expect(printed).toContain(`${ranks} ranks: 26 cases`);
  },
);

test.skipIf(fullPython === undefined)(
  'memory falls with the number of ranks, and nothing is as large as the scores',
  { timeout },
  async () => {
    expect(await runPython(['-m', 'src.formats.torch.python.attention.test_memory'], project)).toContain(
      'relative to one rank',
    );
  },
);

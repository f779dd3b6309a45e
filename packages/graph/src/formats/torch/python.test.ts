import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { encodeSafetensors, Tensor } from '@tilewise/core';
import { dropoutMask } from '@tilewise/philox';
import { fullPython, hasModule, python, runPython } from '@tilewise/test-data/python';
import { expect, test } from 'vitest';

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

test.skipIf(fullPython === undefined)(
  'each rank draws its part of the mask of dropoutMask, bit for bit',
  { timeout },
  async () => {
    const masks = new Map<string, Tensor>();
    const texts: Record<string, string> = {};
    for (const scheme of ['onednn', 'torch-efficient', 'flash-attention-2'] as const)
      for (const keys of [64, 57, 30])
        for (const offset of [0n, 1n, 7n, 2n ** 34n + 2n]) {
          const drawn = { p: 0.1, seed: 2n ** 63n + 5n, offset, scheme };
          const shape = [2, 3, 21, keys] as const;
          const name = `${scheme}, ${keys} keys, offset ${offset}`;
          masks.set(name, Tensor.from(dropoutMask({ ...drawn, shape: [...shape] }), shape, { dtype: 'u8' }));
          texts[name] = JSON.stringify({ ...drawn, seed: `${drawn.seed}`, offset: `${offset}` });
        }
    const file = join(mkdtempSync(join(tmpdir(), 'tilewise-masks-')), 'masks.safetensors');
    writeFileSync(file, encodeSafetensors(masks, texts));
    await runPython(['-m', 'src.formats.torch.python.test_masks', file], project);
  },
);

test.skipIf(python === undefined)(
  'the weights of merged parts add up to 1, however large lse is',
  { timeout },
  async () => {
    const lines = [
      'import torch',
      'from src.formats.torch.python.attention.tiles import merge',
      'torch.manual_seed(1)',
      'o, lse = torch.zeros(1, 1, 64, 3), torch.full((1, 1, 64), -torch.inf)',
      'dead = torch.zeros_like(o), torch.full_like(lse, -torch.inf)',
      'merge(o, lse, *dead)',
      'print(o.max().item(), lse.max().item())',
      'for _ in range(8):',
      '    merge(o, lse, torch.ones_like(o), 300 + torch.randn(1, 1, 64))',
      'merge(o, lse, *dead)',
      'print((o - 1).abs().max().item() < 2e-7)',
    ];
    expect(await runPython(['-c', lines.join('\n')], project)).toBe('0.0 -inf\nTrue\n');
  },
);

test.skipIf(python === undefined)('attention runs on a rank without batch entries', { timeout }, async () => {
  const lines = [
    'import torch',
    'from src.formats.torch.python.attention import Attention, attention',
    'for heads, lengths in ((2, None), (1, None), (2, torch.zeros(0, dtype=torch.int32))):',
    '    q, k, v = (torch.zeros(0, h, 3, 4, requires_grad=True) for h in (2, heads, heads))',
    '    o, lse = attention(Attention(right=0), q, k, v, lengths_kv=lengths)',
    '    o.sum().backward()',
    '    print(*(list(x.shape) for x in (o, lse, q.grad, k.grad, v.grad)))',
  ];
  const printed = [2, 1, 2].map(
    heads => `[0, 2, 3, 4] [0, 2, 3] [0, 2, 3, 4] [0, ${heads}, 3, 4] [0, ${heads}, 3, 4]\n`,
  );
  expect(await runPython(['-c', lines.join('\n')], project)).toBe(printed.join(''));
});

test.skipIf(python === undefined)('a result of shape [] is gathered too', { timeout }, async () => {
  const lines = [
    'import torch',
    'from src.formats.torch.python.parallel import Place',
    'print(Place({}).gather(torch.tensor(3.5), ()).item())',
  ];
  expect(await runPython(['-c', lines.join('\n')], project)).toBe('3.5\n');
});

test.skipIf(python === undefined)(
  "a block gets the best kernel of its device, and CUDA's kernels get the arguments of their schemas",
  { timeout },
  async () => {
    await runPython(['-m', 'src.formats.torch.python.attention.test_kernels'], project);
  },
);

test.skipIf(!(await hasModule('ruff', python)))('a linter finds no problem in the Python files', async () => {
  await runPython(['-m', 'ruff', 'check', '.'], project);
  await runPython(['-m', 'ruff', 'format', '--check', '.'], project);
});

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
  'memory falls with the number of ranks, and no tensor is as large as the scores',
  { timeout },
  async () => {
    expect(await runPython(['-m', 'src.formats.torch.python.attention.test_memory'], project)).toContain(
      'relative to one rank',
    );
  },
);

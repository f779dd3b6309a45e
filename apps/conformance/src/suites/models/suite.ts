import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { WeightDType } from '@tilewise/nn';
import type { ConformanceCase } from '../../cases/case.ts';
import { requireFolder } from '../../data-folder.ts';
import { engineNames, openTensorEngine } from '../../engines/engines.ts';
import { SetupError, type Suite } from '../../suite.ts';
import { checks } from './checks.ts';
import { type Expected, isModelFolder, readExpected } from './expected.ts';

/** Small checkpoints of real architectures: logits, gradients, training, greedy text and LoRA. */
export const models: Suite = {
  name: 'models',
  summary:
    'checkpoints of real architectures; the error is that of the worst number, as a multiple of its tolerance',
  options: {
    models: {
      value: 'DIR',
      meaning: 'folders with config.json, weights and expected.safetensors',
      required: true,
    },
    engine: { value: 'NAME', meaning: 'the engine to test', choices: engineNames },
    dtype: {
      value: 'DTYPE',
      meaning: 'storage dtype of weights; with 16 bits, only logits are compared',
      choices: ['f32', 'f16', 'bf16'],
    },
  },
  async open({ models: root = '', engine: name = '', dtype = 'f32' }) {
    requireFolder('models', root);
    const folders = isModelFolder(root)
      ? [{ name: 'model', folder: root }]
      : readdirSync(root)
          .sort()
          .map(entry => ({ name: entry, folder: join(root, entry) }))
          .filter(({ folder }) => isModelFolder(folder));
    if (folders.length === 0)
      throw new SetupError(`--models: no folder of ${root} has config.json and expected.safetensors.`);
    const engine = await openTensorEngine(name);
    const cases: ConformanceCase[] = [];
    for (const { name: model, folder } of folders) {
      const expected: Expected = await readExpected(folder);
      for (const [check, { needs, rounded, run }] of Object.entries(checks)) {
        if (!needs.every(tensor => expected.has(tensor)) || (dtype !== 'f32' && !rounded)) continue;
        cases.push({
          name: `${model} ${check}`,
          run: () => engine.run(own => run({ folder, engine: own, dtype: dtype as WeightDType, expected })),
        });
      }
    }
    return { cases, close: () => engine.close() };
  },
};

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { WeightDType } from '@tilewise/nn';
import type { ConformanceCase } from '../../cases/case.ts';
import { unsupportedIfRefused } from '../../cases/refusal.ts';
import { requireFolder } from '../../data-folder.ts';
import { engineNames, type OpenTensorEngine, openTensorEngine } from '../../engines/engines.ts';
import { SetupError, type Suite } from '../../suite.ts';
import { checks } from './checks.ts';
import { type Expected, isModelFolder, readExpected } from './expected.ts';

/** Small checkpoints of real architectures: logits, gradients, training, greedy text and LoRA. */
export const models: Suite = {
  name: 'models',
  summary: "checkpoints of real architectures; the error is the worst number's, in units of its tolerance",
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
    const cases = await Promise.all(folders.map(one => casesOf(one, dtype as WeightDType, engine)));
    return { cases: cases.flat(), close: () => engine.close() };
  },
};

/** The checks of a model for whose results its folder has expected ones; a damaged file of them fails. */
async function casesOf(
  { name, folder }: { readonly name: string; readonly folder: string },
  dtype: WeightDType,
  engine: OpenTensorEngine,
): Promise<ConformanceCase[]> {
  let expected: Expected;
  try {
    expected = await readExpected(folder);
  } catch (error) {
    return [{ name, run: () => Promise.reject(error) }];
  }
  const applicable = Object.entries(checks).filter(
    ([, { needs, rounded }]) => needs.every(tensor => expected.has(tensor)) && (dtype === 'f32' || rounded),
  );
  return applicable.map(([check, { run }]) => ({
    name: `${name} ${check}`,
    run: () => unsupportedIfRefused(() => engine.run(own => run({ folder, engine: own, dtype, expected }))),
  }));
}

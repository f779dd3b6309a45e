import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { engineNamed, openEngine } from '@tilewise/host-engine';
import { folderFiles, type StepReport } from '@tilewise/nn';
import { writeFolder } from '@tilewise/nn/checkpoint';
import { fineTune, type MemoryReport } from './fine-tune.ts';
import { memoryOfLora } from './memory-of-lora.ts';

const usage = `Fine-tunes a model on a text with LoRA.

  node dist/main.js --model DIR --text FILE --out DIR   a folder with config.json, weights and tokenizer.json; a text; the adapter
       --steps N  --context N  --rank N  --lr X  --prompt TEXT  --recompute  --engine cpu|webgpu
  node dist/main.js --memory   the memory of LoRA on a model of 100 million parameters in f16, on one sequence of 512 tokens
       --sequence N
`;

const { values } = parseArgs({
  options: {
    ...Object.fromEntries(
      ['model', 'text', 'out', 'steps', 'context', 'rank', 'lr', 'prompt', 'engine', 'sequence'].map(
        name => [name, { type: 'string' }] as const,
      ),
    ),
    ...{ recompute: { type: 'boolean' }, memory: { type: 'boolean' }, help: { type: 'boolean' } },
  },
});
const given = values as Readonly<Record<string, string | undefined>>;
const number = (name: string): number | undefined =>
  given[name] === undefined ? undefined : Number(given[name]);

const megabytes = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(1)} MiB`;
const told = ({ weights, adapter, training }: MemoryReport): string =>
  `weights ${megabytes(weights)}, adapter ${megabytes(adapter)}, gradients, AdamW and activations ${megabytes(training)}`;

const { run, close } = await openEngine(engineNamed(given.engine ?? 'cpu'));
if (values.memory) {
  for (const recomputation of [false, true]) {
    const report = await run(engine =>
      memoryOfLora(engine, { sequence: number('sequence') ?? 512, recomputation }),
    );
    const how = recomputation ? 'with blocks recomputed' : 'with all activations kept';
    console.log(`${(report.parameters / 1e6).toFixed(1)} M parameters in f16, ${how}: ${told(report)}`);
  }
} else if (given.model && given.text && given.out && !values.help) {
  const options = {
    ...{ files: folderFiles(given.model), text: await readFile(given.text, 'utf8') },
    ...{ steps: number('steps'), context: number('context'), rank: number('rank') },
    ...{ learningRate: number('lr'), prompt: given.prompt, recomputation: values.recompute === true },
    onSample: (when: 'before' | 'after', text: string) =>
      console.log(`${when === 'before' ? 'Before' : 'After'}: ${text}`),
    onStep: ({ step, loss }: StepReport) => {
      if (step % 10 === 0) console.log(`step ${step}  loss ${loss.toFixed(3)}`);
    },
  };
  const { adapter, memory } = await run(engine => fineTune({ engine, ...options }));
  await writeFolder(given.out, adapter);
  console.log(`Memory: ${told(memory)}. The adapter is in ${given.out}.`);
} else {
  console.log(usage);
  process.exitCode = values.help ? 0 : 2;
}
close();

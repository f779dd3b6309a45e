import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { engineNamed, openEngine } from '@tilewise/host-engine';
import { folderFiles, type StepReport } from '@tilewise/nn';
import { writeFolder } from '@tilewise/nn/checkpoint';
import { fineTune, type MemoryReport } from './fine-tune.ts';
import { memoryOfLora } from './memory-of-lora.ts';

const usage = `Fine-tunes a published model on a text with LoRA, and shows what the model says before and after.

Usage: node examples/finetune/dist/main.js --model DIR --text FILE --out DIR [options]
       node examples/finetune/dist/main.js --memory [--sequence N]

  --model DIR          the folder of the model: config.json, weights and tokenizer.json
  --text FILE          the text to train on
  --out DIR            the folder for the adapter, in peft's format
  --steps N  --rank N  --lr X
                       training steps (100), rank of the adapter (8), largest learning rate (0.001)
  --context N          tokens of a sequence; default 128
  --prompt TEXT        what the samples begin with; default the first words of the text
  --recompute          recomputes activations in the backward pass: less memory, more time
  --engine cpu|webgpu  default cpu
  --memory             prints the memory that LoRA takes on a model of 100 million parameters in f16
  --sequence N         the tokens of its sequence; default 512
`;

const megabytes = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(1)} MiB`;
const told = ({ weights, adapter, training }: MemoryReport): string =>
  `weights ${megabytes(weights)}, adapter ${megabytes(adapter)}, gradients, AdamW and activations ${megabytes(training)}`;

async function main(): Promise<void> {
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
  const { run, close } = await openEngine(engineNamed(given.engine ?? 'cpu'));
  try {
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
  } finally {
    close();
  }
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
});

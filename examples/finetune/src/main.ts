import { readFile } from 'node:fs/promises';
import { type ParseArgsConfig, parseArgs } from 'node:util';
import { engineNamed, type HostEngine, openEngine } from '@tilewise/host-engine';
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
  --engine NAME        reference, cpu or webgpu; default cpu
  --memory             prints the memory that LoRA takes on a model of 100 million parameters in f16
  --sequence N         tokens of the sequence for --memory; default 512
`;

const megabytes = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(1)} MiB`;
const told = ({ weights, adapter, training }: MemoryReport): string =>
  `weights ${megabytes(weights)}, adapter ${megabytes(adapter)}, gradients, AdamW and activations ${megabytes(training)}`;

/** Arguments that cannot be understood. */
class UsageError extends Error {}

/** The arguments by name, as texts; a switch is true. */
type Given = Readonly<Record<string, unknown>>;

/** Reads the arguments. @throws UsageError naming an option that does not exist, or that has no value. */
function parse(): Given {
  const texts = ['model', 'text', 'out', 'steps', 'context', 'rank', 'lr', 'prompt', 'engine', 'sequence'];
  const options: ParseArgsConfig['options'] = {
    ...Object.fromEntries(texts.map(name => [name, { type: 'string' }] as const)),
    ...{ recompute: { type: 'boolean' }, memory: { type: 'boolean' }, help: { type: 'boolean' } },
  };
  return checked(() => parseArgs({ options }).values);
}

/** Reads a value of the command line; any error becomes a UsageError. */
function checked<R>(read: () => R): R {
  try {
    return read();
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

/** The text of an option. @throws UsageError if the option is missing. */
function required(given: Given, name: string): string {
  const text = given[name];
  if (typeof text === 'string') return text;
  throw new UsageError(`--${name} is missing`);
}

/** The number of an option, if it is given. @throws UsageError for any other value. */
function number(given: Given, name: string, least?: number): number | undefined {
  const text = given[name];
  if (text === undefined) return undefined;
  const value = Number(text || Number.NaN);
  if (least === undefined ? value > 0 && value < Infinity : Number.isSafeInteger(value) && value >= least)
    return value;
  const rule = least === undefined ? 'a number above 0' : `a whole number of at least ${least}`;
  throw new UsageError(`--${name} must be ${rule}, got '${text}'`);
}

/** Prints the memory of LoRA on random weights, without and with recomputation. */
async function printMemory({ run }: HostEngine, sequence = 512): Promise<void> {
  for (const recomputation of [false, true]) {
    const report = await run(engine => memoryOfLora(engine, { sequence, recomputation }));
    const how = recomputation ? 'with blocks recomputed' : 'with all activations stored';
    console.log(`${(report.parameters / 1e6).toFixed(1)} M parameters in f16, ${how}: ${told(report)}`);
  }
}

async function main(): Promise<void> {
  const given = parse();
  if (given.help) {
    console.log(usage);
    return;
  }
  const name = checked(() => engineNamed(String(given.engine ?? 'cpu')));
  if (given.memory) {
    const sequence = number(given, 'sequence', 2);
    const engine = await openEngine(name);
    await printMemory(engine, sequence).finally(engine.close);
    return;
  }
  const [model, file, out] = ['model', 'text', 'out'].map(option => required(given, option));
  const options = {
    ...{ steps: number(given, 'steps', 1), context: number(given, 'context', 2) },
    ...{ rank: number(given, 'rank', 1), learningRate: number(given, 'lr') },
    prompt: given.prompt === undefined ? undefined : String(given.prompt),
    recomputation: given.recompute === true,
    files: folderFiles(model),
    text: await readFile(file, 'utf8'),
    onSample: (when: 'before' | 'after', text: string) =>
      console.log(`${when === 'before' ? 'Before' : 'After'}: ${text}`),
    onStep: ({ step, loss }: StepReport) => {
      if (step % 10 === 0) console.log(`step ${step}  loss ${loss.toFixed(3)}`);
    },
  };
  const { run, close } = await openEngine(name);
  try {
    const { adapter, memory } = await run(engine => fineTune({ engine, ...options }));
    await writeFolder(out, adapter);
    console.log(`Memory: ${told(memory)}. The adapter is in ${out}.`);
  } finally {
    close();
  }
}

main().catch((error: unknown) => {
  const problem = error instanceof Error ? error.message : String(error);
  // The reason comes last, where it is still visible after a long usage.
  console.error(error instanceof UsageError ? `${usage}\n\n${problem}` : problem);
  process.exitCode = error instanceof UsageError ? 2 : 1;
});

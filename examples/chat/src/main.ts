import { createInterface } from 'node:readline/promises';
import { parseArgs } from 'node:util';
import { type EngineName, engineNamed, openEngine } from '@tilewise/host-engine';
import { folderFiles, type WeightDType } from '@tilewise/nn';
import { type FileProgress, withProgress } from '@tilewise/nn/checkpoint';
import { type ChatOptions, openChat } from './chat.ts';

const usage = `Chats with a published model in a terminal. Type a line and press Enter; an empty line ends the chat.

Usage: node examples/chat/dist/main.js --model DIR [options]

  --model DIR           the folder of the model: config.json, weights and tokenizer.json
  --engine reference|cpu|webgpu
                        default cpu
  --dtype f32|f16|bf16  the dtype of the weights in memory; default that of the files
  --system TEXT         the system prompt
  --max-tokens N  --temperature X  --top-p X  --top-k N  --seed N
                        how tokens are sampled: at most 512; otherwise as generation_config.json says
  --complete TEXT       continues a text instead of a conversation
`;

async function write(parts: AsyncIterable<string>): Promise<void> {
  for await (const part of parts) process.stdout.write(part);
  process.stdout.write('\n');
}

/** Shows how much of a file has been read in one line of a terminal, which is cleared after the last byte. */
function showReading({ file, loaded, total }: FileProgress): void {
  if (!process.stderr.isTTY || total === null) return;
  const line = `Reading ${file}: ${Math.floor((100 * loaded) / total)} %`;
  process.stderr.write(loaded < total ? `\r${line}` : `\r${' '.repeat(line.length)}\r`);
}

/** The arguments of the program. */
interface Parsed {
  readonly model: string;
  readonly engine: EngineName;
  readonly dtype: WeightDType | undefined;
  readonly complete: string | undefined;
  readonly options: ChatOptions;
}

/** Arguments that cannot be understood. */
class UsageError extends Error {}

const dtypes: readonly WeightDType[] = ['f32', 'f16', 'bf16'];

/** Reads the arguments; null if they ask for help. @throws UsageError naming the option. */
function parse(): Parsed | null {
  const names = 'model engine dtype system max-tokens temperature top-p top-k seed complete'.split(' ');
  const texts = Object.fromEntries(names.map(name => [name, { type: 'string' }] as const));
  try {
    const { values } = parseArgs({ options: { ...texts, help: { type: 'boolean' } } });
    if (values.help) return null;
    const given = values as Readonly<Record<string, string | undefined>>;
    const { model, complete, system } = given;
    if (model === undefined) throw new Error('--model is missing');
    const dtype = dtypes.find(name => name === given.dtype);
    if (given.dtype !== undefined && !dtype)
      throw new Error(`--dtype must be one of ${dtypes.join(', ')}, got '${given.dtype}'`);
    const number = (name: string): number | undefined => {
      const value = Number(given[name] || Number.NaN);
      if (given[name] === undefined) return undefined;
      if (Number.isFinite(value)) return value;
      throw new Error(`--${name} must be a number, got '${given[name]}'`);
    };
    const options = {
      ...{ system, maxNewTokens: number('max-tokens'), temperature: number('temperature') },
      ...{ topP: number('top-p'), topK: number('top-k'), seed: number('seed') },
    };
    return { model, complete, dtype, engine: engineNamed(given.engine ?? 'cpu'), options };
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

async function main(): Promise<void> {
  const parsed = parse();
  if (!parsed) {
    console.log(usage);
    return;
  }
  const { model, complete, dtype, options } = parsed;
  const { run, close } = await openEngine(parsed.engine);
  try {
    const files = withProgress(folderFiles(model), showReading);
    const chat = await run(engine => openChat(files, { engine, dtype }, options));
    if (complete !== undefined) await write(chat.complete(complete));
    else {
      const terminal = createInterface({ input: process.stdin, output: process.stdout, terminal: false });
      // Loading takes a while: a person must see when to type, but input from a pipe needs no prompt.
      const ask = (): unknown => process.stdin.isTTY && process.stdout.write('> ');
      ask();
      for await (const line of terminal) {
        if (line === '') break;
        await write(chat.say(line));
        ask();
      }
      terminal.close();
    }
    chat.release();
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

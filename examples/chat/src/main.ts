import { createInterface } from 'node:readline/promises';
import { parseArgs } from 'node:util';
import { engineNamed, openEngine } from '@tilewise/host-engine';
import { folderFiles, type WeightDType } from '@tilewise/nn';
import { openChat } from './chat.ts';

const usage = `Chats with a published model in a terminal. Type a line and press Enter; an empty line ends the chat.

Usage: node examples/chat/dist/main.js --model DIR [options]

  --model DIR           the folder of the model: config.json, weights and tokenizer.json
  --engine cpu|webgpu   default cpu
  --dtype f32|f16|bf16  the dtype of the weights in memory; default that of the files
  --system TEXT         the system prompt
  --max-tokens N  --temperature X  --top-p X  --top-k N  --seed N
                        how tokens are sampled
  --complete TEXT       continues a text instead of a conversation
`;

async function write(parts: AsyncIterable<string>): Promise<void> {
  for await (const part of parts) process.stdout.write(part);
  process.stdout.write('\n');
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      ...Object.fromEntries(
        `model engine dtype system max-tokens temperature top-p top-k seed complete`
          .split(' ')
          .map(name => [name, { type: 'string' }] as const),
      ),
      help: { type: 'boolean' },
    },
  });
  const given = values as Readonly<Record<string, string | undefined>>;
  const number = (name: string): number | undefined =>
    given[name] === undefined ? undefined : Number(given[name]);
  if (!given.model || values.help) {
    console.log(usage);
    process.exitCode = values.help ? 0 : 2;
    return;
  }
  const files = folderFiles(given.model);
  const dtype = given.dtype as WeightDType | undefined;
  const { run, close } = await openEngine(engineNamed(given.engine ?? 'cpu'));
  try {
    const options = {
      ...{ system: given.system, maxNewTokens: number('max-tokens'), temperature: number('temperature') },
      ...{ topP: number('top-p'), topK: number('top-k'), seed: number('seed') },
    };
    const chat = await run(engine => openChat(files, { engine, dtype }, options));
    if (given.complete !== undefined) await write(chat.complete(given.complete));
    else {
      const terminal = createInterface({ input: process.stdin, output: process.stdout, terminal: false });
      for await (const line of terminal) {
        if (line === '') break;
        await write(chat.say(line));
      }
      terminal.close();
    }
    chat.release();
  } finally {
    close();
  }
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
});

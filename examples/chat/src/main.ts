import { createInterface } from 'node:readline/promises';
import { parseArgs } from 'node:util';
import { cpuEngine } from '@tilewise/core/cpu';
import { folderFiles, type WeightDType } from '@tilewise/nn';
import { type Chat, type ChatOptions, openChat } from './chat.ts';

const usage = `Talks with a model.

  node dist/main.js --model DIR   a folder with config.json, weights and tokenizer.json; a line is what you say, an empty one ends
       --engine cpu|webgpu  --dtype f32|f16|bf16  --system TEXT  --max-tokens N  --temperature X  --top-p X  --top-k N  --seed N
       --complete TEXT            continues a text instead
`;

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

async function open(folder: string, options: ChatOptions): Promise<Chat> {
  const files = folderFiles(folder);
  const dtype = given.dtype as WeightDType | undefined;
  if (given.engine !== 'webgpu') return openChat(files, { engine: cpuEngine(), dtype }, options);
  const [{ openGpu }, { createContext, webgpuEngine }] = await Promise.all([
    import('@tilewise/webgpu-host'),
    import('@tilewise/webgpu'),
  ]);
  const ctx = await createContext({ adapter: (await openGpu()).adapter });
  const chat = await openChat(files, { engine: webgpuEngine(ctx), dtype }, options);
  return {
    ...chat,
    release() {
      chat.release();
      ctx.destroy();
    },
  };
}

async function write(parts: AsyncIterable<string>): Promise<void> {
  for await (const part of parts) process.stdout.write(part);
  process.stdout.write('\n');
}

if (!given.model || values.help) console.log(usage);
else {
  const chat = await open(given.model, {
    ...{ system: given.system, maxNewTokens: number('max-tokens'), temperature: number('temperature') },
    ...{ topP: number('top-p'), topK: number('top-k'), seed: number('seed') },
  });
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
}

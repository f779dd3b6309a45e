import type { TensorDesc } from '@tilewise/core';
import { cpuEngine } from '@tilewise/core/cpu';
import type { TensorEngine } from '@tilewise/core/primitive';
import { givenFiles } from '@tilewise/nn';
import { createContext, webgpuEngine } from '@tilewise/webgpu';
import { fineTune } from './fine-tune.ts';

const element = <E extends Element>(id: string): E => document.querySelector(`#${id}`) as E;
const log = element<HTMLPreElement>('log');
const say = (line: string): void => log.append(`${line}\n`);
let stop = new AbortController();

/** WebGPU if the page has an adapter, else the CPU. */
async function openEngine(): Promise<TensorEngine<TensorDesc>> {
  const adapter = await navigator.gpu?.requestAdapter();
  const engine = adapter ? webgpuEngine(await createContext({ adapter })) : cpuEngine();
  return engine as unknown as TensorEngine<TensorDesc>;
}

async function start(): Promise<void> {
  const model = element<HTMLInputElement>('model').files;
  const text = element<HTMLInputElement>('text').files?.[0];
  if (!model?.length || !text) return say('Choose the folder of a model and a text first.');
  stop = new AbortController();
  const { adapter, memory } = await fineTune({
    ...{ engine: await openEngine(), files: givenFiles(model), text: await text.text() },
    ...{ steps: Number(element<HTMLInputElement>('steps').value), signal: stop.signal },
    onSample: (when, said) => say(`${when}: ${said}`),
    onStep: ({ step, loss }) => say(`step ${step}  loss ${loss.toFixed(3)}`),
  });
  say(
    `memory of training beside the weights: ${((memory.adapter + memory.training) / 2 ** 20).toFixed(1)} MiB`,
  );
  for (const [name, bytes] of Object.entries(adapter)) {
    const link = document.createElement('a');
    link.href = URL.createObjectURL(new Blob([bytes]));
    link.download = link.textContent = name;
    element('files').append(link, ' ');
  }
}

element('start').addEventListener('click', () => {
  start().catch((error: unknown) => say(error instanceof Error ? error.message : String(error)));
});
element('stop').addEventListener('click', () => stop.abort());
// Tests wait for this.
document.body.dataset.ready = 'true';

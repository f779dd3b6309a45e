import type { TensorDesc } from '@tilewise/core';
import { cpuEngine } from '@tilewise/core/cpu';
import type { TensorEngine } from '@tilewise/core/primitive';
import { givenFiles } from '@tilewise/nn';
import { type FileProgress, withProgress } from '@tilewise/nn/checkpoint';
import { createContext, webgpuEngine } from '@tilewise/webgpu';
import { fineTune } from './fine-tune.ts';

const element = <E extends Element>(id: string): E => document.querySelector(`#${id}`) as E;
const log = element<HTMLPreElement>('log');
const say = (line: string): void => log.append(`${line}\n`);
let stop = new AbortController();

/** WebGPU if the page has an adapter, else the CPU. `close` gives the device back. */
async function openEngine(): Promise<{ engine: TensorEngine<TensorDesc>; close(): void }> {
  const adapter = await navigator.gpu?.requestAdapter();
  const context = adapter && (await createContext({ adapter }));
  const engine = context ? webgpuEngine(context) : cpuEngine();
  say(
    `Loading the model, for training on ${context ? 'WebGPU' : 'the CPU, because there is no WebGPU here'}.`,
  );
  return { engine: engine as unknown as TensorEngine<TensorDesc>, close: () => context?.destroy() };
}

/** Shows how much of a file has been read; hides the bar after the last byte. */
function showReading({ file, loaded, total }: FileProgress): void {
  const reading = element<HTMLParagraphElement>('reading');
  const [name, bar] = [reading.querySelector('span'), reading.querySelector('progress')];
  if (!name || !bar || total === null) return;
  reading.hidden = loaded === total;
  name.textContent = file;
  bar.max = total;
  bar.value = loaded;
}

async function start(): Promise<void> {
  const model = element<HTMLInputElement>('model').files;
  const text = element<HTMLInputElement>('text').files?.[0];
  if (!model?.length || !text) return say('Choose the folder of a model and a text first.');
  stop = new AbortController();
  const { engine, close } = await openEngine();
  const { adapter, memory } = await fineTune({
    ...{ engine, files: withProgress(givenFiles(model), showReading), text: await text.text() },
    ...{ steps: Number(element<HTMLInputElement>('steps').value), signal: stop.signal },
    onSample: (when, said) => say(`${when}: ${said}`),
    onStep: ({ step, loss }) => say(`step ${step}  loss ${loss.toFixed(3)}`),
  }).finally(close);
  say(
    `memory of training beside the weights: ${((memory.adapter + memory.training) / 2 ** 20).toFixed(1)} MiB`,
  );
  element('files').replaceChildren();
  for (const [name, bytes] of Object.entries(adapter)) {
    const link = document.createElement('a');
    link.href = URL.createObjectURL(new Blob([bytes]));
    link.download = link.textContent = name;
    element('files').append(link, ' ');
  }
}

const startButton = element<HTMLButtonElement>('start');
const stopButton = element<HTMLButtonElement>('stop');
/** "Stop" ends one run, so there is only one at a time. */
function showRunning(isRunning: boolean): void {
  startButton.disabled = isRunning;
  stopButton.disabled = !isRunning;
}
startButton.addEventListener('click', () => {
  showRunning(true);
  start()
    .catch((error: unknown) => say(error instanceof Error ? error.message : String(error)))
    .finally(() => showRunning(false));
});
stopButton.addEventListener('click', () => stop.abort(new Error('Stopped: this run made no adapter.')));
// Tests wait for this.
document.body.dataset.ready = 'true';

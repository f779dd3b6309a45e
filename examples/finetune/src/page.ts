import type { FileProgress } from '@tilewise/nn/checkpoint';
import type { FineTuned } from './fine-tune.ts';
import type { TrainEvent, TrainRequest } from './train-worker.ts';

const element = <E extends Element>(id: string): E => document.querySelector(`#${id}`) as E;
const log = element<HTMLPreElement>('log');
const startButton = element<HTMLButtonElement>('start');
const stopButton = element<HTMLButtonElement>('stop');
const reading = element<HTMLParagraphElement>('reading');
const say = (line: string): void => log.append(`${line}\n`);

/**
 * The worker that trains. On the CPU a step of training takes seconds, in which the page must not stand
 * still.
 */
let worker: Worker | null = null;

/** Shows how much of a file has been read. */
function showReading({ file, loaded, total }: FileProgress): void {
  const bar = element<HTMLProgressElement>('bar');
  reading.hidden = total === null || loaded === total;
  element('file').textContent = file;
  bar.max = total ?? 1;
  bar.value = loaded;
}

/** Offers the files of the adapter. */
function showResult({ adapter, memory }: FineTuned): void {
  const mebibytes = (memory.adapter + memory.training) / 2 ** 20;
  say(`memory of training beside the weights: ${mebibytes.toFixed(1)} MiB`);
  element('files').replaceChildren();
  for (const [name, bytes] of Object.entries(adapter)) {
    const link = document.createElement('a');
    link.href = URL.createObjectURL(new Blob([bytes]));
    link.download = link.textContent = name;
    element('files').append(link, ' ');
  }
}

/** Ends the run, whatever it is doing: its memory and its device go with the worker. */
function end(line?: string): void {
  worker?.terminate();
  worker = null;
  if (line !== undefined) say(line);
  reading.hidden = true;
  startButton.disabled = false;
  stopButton.disabled = true;
}

function hear(event: TrainEvent): void {
  if (event.kind === 'engine') {
    const where = event.name === 'webgpu' ? 'WebGPU' : 'the CPU, because there is no WebGPU here';
    say(`Loading the model, for training on ${where}.`);
  } else if (event.kind === 'reading') showReading(event.progress);
  else if (event.kind === 'sample') say(`${event.when}: ${event.text}`);
  else if (event.kind === 'step') say(`step ${event.report.step}  loss ${event.report.loss.toFixed(3)}`);
  else if (event.kind === 'done') {
    showResult(event.result);
    end();
  } else end(event.message);
}

async function start(): Promise<void> {
  const model = element<HTMLInputElement>('model').files;
  const text = element<HTMLInputElement>('text').files?.[0];
  if (!model?.length || !text) return say('Choose the folder of a model and a text first.');
  startButton.disabled = true;
  stopButton.disabled = false;
  const steps = Number(element<HTMLInputElement>('steps').value);
  const own = new Worker(new URL('./train-worker.ts', import.meta.url), { type: 'module' });
  worker = own;
  own.addEventListener('message', ({ data }: MessageEvent<TrainEvent>) => hear(data));
  own.addEventListener('error', ({ message }) => end(message || 'The script of the worker did not load.'));
  own.postMessage({ model: [...model], text: await text.text(), steps } satisfies TrainRequest);
}

startButton.addEventListener('click', () => {
  start().catch((error: unknown) => end(error instanceof Error ? error.message : String(error)));
});
stopButton.addEventListener('click', () => end('Stopped: this run made no adapter.'));
// Tests wait for this.
document.body.dataset.ready = 'true';

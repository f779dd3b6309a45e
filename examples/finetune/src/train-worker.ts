import { cpuEngine } from '@tilewise/core/cpu';
import type { TensorEngine } from '@tilewise/core/primitive';
import { givenFiles, type StepReport } from '@tilewise/nn';
import { type FileProgress, withProgress } from '@tilewise/nn/checkpoint';
import { createContext, webgpuEngine } from '@tilewise/webgpu';
import { type FineTuned, fineTune } from './fine-tune.ts';

/** What the page asks of the worker. */
export interface TrainRequest {
  /** The files of the model. */
  readonly model: readonly File[];
  readonly text: string;
  readonly steps: number;
}

/** What the worker tells the page, while it trains and at the end. */
export type TrainEvent =
  | { readonly kind: 'engine'; readonly name: 'webgpu' | 'cpu' }
  | { readonly kind: 'reading'; readonly progress: FileProgress }
  | { readonly kind: 'sample'; readonly when: 'before' | 'after'; readonly text: string }
  | { readonly kind: 'step'; readonly report: StepReport }
  | { readonly kind: 'done'; readonly result: FineTuned }
  | { readonly kind: 'failed'; readonly message: string };

const tell = (event: TrainEvent): void => postMessage(event);

/** WebGPU if the browser has an adapter, else the CPU. */
async function openEngine(): Promise<TensorEngine> {
  const adapter = await navigator.gpu?.requestAdapter();
  const engine = adapter ? webgpuEngine(await createContext({ adapter })) : cpuEngine();
  tell({ kind: 'engine', name: adapter ? 'webgpu' : 'cpu' });
  return engine;
}

async function train({ model, text, steps }: TrainRequest): Promise<FineTuned> {
  const files = withProgress(givenFiles(model), progress => tell({ kind: 'reading', progress }));
  return fineTune({
    ...{ engine: await openEngine(), files, text, steps },
    onSample: (when, said) => tell({ kind: 'sample', when, text: said }),
    onStep: report => tell({ kind: 'step', report }),
  });
}

addEventListener('message', ({ data }: MessageEvent<TrainRequest>) => {
  train(data).then(
    result => tell({ kind: 'done', result }),
    (error: unknown) =>
      tell({ kind: 'failed', message: error instanceof Error ? error.message : String(error) }),
  );
});

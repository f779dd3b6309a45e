import { type EngineChoice, type OpenedEngine, openTensorEngine } from '../../engine/tensor-engine.ts';
import { type GraphSource, type RunReport, runReport } from './report.ts';

/** A request of the page to the worker. */
export interface RunRequest {
  readonly source: GraphSource;
  readonly engine: EngineChoice;
}

/** An answer of the worker. */
export type RunAnswer =
  | { readonly kind: 'done'; readonly report: RunReport; readonly opened: Omit<OpenedEngine, 'engine'> }
  | { readonly kind: 'failed'; readonly message: string };

addEventListener('message', async ({ data }: MessageEvent<RunRequest>) => {
  postMessage(await answer(data));
});

async function answer({ source, engine: choice }: RunRequest): Promise<RunAnswer> {
  try {
    const { engine, ...opened } = await openTensorEngine(choice);
    return { kind: 'done', report: await runReport(source, engine), opened };
  } catch (error) {
    return { kind: 'failed', message: error instanceof Error ? error.message : String(error) };
  }
}

import { openTensorEngine } from '../../engine/tensor-engine.ts';
import { beginSession, type Session } from './session.ts';
import type { TrainEvent, TrainRequest } from './training.ts';

const tell = (event: TrainEvent): void => postMessage(event);

let session: Promise<Session | null> = Promise.resolve(null);

addEventListener('message', async ({ data }: MessageEvent<TrainRequest>) => {
  if (data.kind === 'begin') session = begin(data);
  else (await session)?.take(data);
});

async function begin({ setup }: Extract<TrainRequest, { kind: 'begin' }>): Promise<Session | null> {
  try {
    const { engine, ...opened } = await openTensorEngine(setup.engine);
    const own = beginSession(setup, engine, tell);
    const { parameters, probe } = own;
    tell({ kind: 'ready', opened, parameters, probe });
    return own;
  } catch (error) {
    tell({ kind: 'failed', message: error instanceof Error ? error.message : String(error) });
    return null;
  }
}

import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { ForwardPass, Message, Reply } from './message.ts';
import { createPool } from './pool.ts';

const setUp = { kind: 'set-up', variant: 'typescript', module: undefined } as const;
/** A pass whose content the scripted workers ignore. */
const pass = { kind: 'forward' } as ForwardPass;

/** A web worker with scripted answers, which does not answer once it is terminated. */
class ScriptedWorker {
  static replies: Reply[] = [];
  static startsWell = true;
  onmessage: ((event: { data: Reply }) => void) | null = null;
  #onerror: ((event: { message: string }) => void) | null = null;
  #isEnded = false;

  set onerror(listener: (event: { message: string }) => void) {
    this.#onerror = listener;
    if (!ScriptedWorker.startsWell) this.#onerror({ message: 'blocked by the page' });
  }

  postMessage({ kind }: Message): void {
    const data = kind === 'set-up' ? undefined : ScriptedWorker.replies.shift();
    if (data) setTimeout(() => this.#isEnded || this.onmessage?.({ data }));
  }

  terminate(): void {
    this.#isEnded = true;
  }
}

beforeEach(() => {
  vi.spyOn(process, 'getBuiltinModule').mockReturnValue(undefined as never);
  vi.stubGlobal('Worker', ScriptedWorker);
  ScriptedWorker.replies = [];
  ScriptedWorker.startsWell = true;
});
afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

test('waiting passes reject when the pool ends after a failure, and so do later passes', async () => {
  ScriptedWorker.replies = [{ error: 'out of memory' }, {}];
  const pool = createPool(2, '', setUp);
  const first = pool.run(pass).catch(error => {
    pool.terminate();
    throw error;
  });
  const second = pool.run(pass);
  await expect(first).rejects.toThrow('out of memory');
  await expect(second).rejects.toThrow('the workers were terminated');
  await expect(pool.run(pass)).rejects.toThrow('the workers were terminated');
});

test('idle workers are told of a pass at once, and of the next when they have replied', async () => {
  const told = vi.spyOn(ScriptedWorker.prototype, 'postMessage');
  const pool = createPool(1, '', setUp);
  for (let round = 0; round < 2; round++) {
    told.mockClear();
    ScriptedWorker.replies = [{}, {}];
    const passes = [pool.run(pass), pool.run(pass)];
    expect(told).toHaveBeenCalledTimes(1);
    await Promise.all(passes);
    expect(told).toHaveBeenCalledTimes(2);
  }
});

test('if a worker cannot be created, the workers before it end', () => {
  const ended = vi.spyOn(ScriptedWorker.prototype, 'terminate');
  let made = 0;
  class Limited extends ScriptedWorker {
    constructor() {
      super();
      if (++made > 2) throw new Error('too many workers');
    }
  }
  vi.stubGlobal('Worker', Limited);
  expect(() => createPool(4, '', setUp)).toThrow('too many workers');
  expect(ended).toHaveBeenCalledTimes(2);
});

test('a worker that fails when it starts fails the passes, with its reason', async () => {
  ScriptedWorker.startsWell = false;
  await expect(createPool(2, '', setUp).run(pass)).rejects.toThrow('blocked by the page');
});

test('a worker that cannot be set up ends', () => {
  vi.spyOn(ScriptedWorker.prototype, 'postMessage').mockImplementation(() => {
    throw new Error('the module cannot be cloned');
  });
  const terminate = vi.spyOn(ScriptedWorker.prototype, 'terminate');
  expect(() => createPool(2, '', setUp)).toThrow('the module cannot be cloned');
  expect(terminate).toHaveBeenCalledTimes(1);
});

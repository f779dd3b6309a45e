import { TilewiseError } from '../../errors.ts';
import { type HostWorker, startWorker } from './host-threads.ts';
import type { BackwardPass, ForwardPass, Message, Region, Reply, SetUp } from './message.ts';

/** A worker could not start, has died, or could not finish a pass. */
export class WorkerFailure extends TilewiseError {
  override readonly name: string = 'WorkerFailure';
  /** Whether the call caused the failure: the workers can go on, and the calling thread repeats the call. */
  readonly isOfCall: boolean;
  constructor(reason: string, isOfCall = false) {
    super(
      'DEVICE_LOST',
      `a thread of the CPU engine failed: ${reason}; its results are lost, and later calls use the remaining threads`,
    );
    this.isOfCall = isOfCall;
  }
}

/** Workers that run passes together, one pass at a time. */
export interface Pool {
  readonly threads: number;
  /** Whether no pass is running or waiting. */
  readonly isIdle: boolean;
  /**
   * Sends a pass to the workers, or to all but the first if the caller computes instead; immediately if they
   * are idle, so that they wake up while the caller continues.
   * @returns the replies of these workers, once they have run out of tasks. Rejects with a WorkerFailure,
   * after which the pool cannot be used any more, unless the call caused the failure.
   */
  run(pass: ForwardPass | BackwardPass, withFirst?: boolean): Promise<readonly Reply[]>;
  /** Asks one worker to join a parallel region; it does not reply. */
  tell(worker: number, region: Region): void;
  /** Ends the workers; passes that wait reject. */
  terminate(): void;
}

interface Member {
  readonly worker: HostWorker;
  answer: ((reply: Reply) => void) | null;
}

/**
 * Starts `threads` workers, or none if one cannot start. They keep a process alive only while a pass runs.
 * @param beforePass is called before the workers are sent a pass.
 */
export function createPool(
  threads: number,
  source: string,
  setUp: SetUp,
  beforePass: () => void = () => {},
): Pool {
  let failure: string | null = null;
  /** Resolves when the passes so far are over; null if none is running. */
  let turn: Promise<void> | null = null;
  const members: Member[] = [];
  try {
    for (let n = 0; n < threads; n++) startMember();
  } catch (error) {
    for (const { worker } of members) worker.terminate();
    throw error;
  }

  /** The first reason is the cause of the others. */
  function fail(reason: string): void {
    failure ??= reason;
    for (const { answer } of members) answer?.({ error: failure });
  }

  function startMember(): void {
    const member: Member = {
      worker: startWorker(source, { onReply: reply => member.answer?.(reply), onFailure: fail }),
      answer: null,
    };
    members.push(member);
    member.worker.post(setUp);
  }

  async function runOn(member: Member, pass: Message): Promise<Reply> {
    if (failure !== null) throw new WorkerFailure(failure);
    member.worker.keepAlive(true);
    try {
      const reply = await new Promise<Reply>(resolve => {
        member.answer = resolve;
        member.worker.post(pass);
      });
      if (reply.error !== undefined) throw new WorkerFailure(reply.error, reply.isOfCall);
      return reply;
    } finally {
      member.answer = null;
      member.worker.keepAlive(false);
    }
  }

  /** Waits for all workers, even if one fails, so that none still works on a pass that is over. */
  async function runOnAll(pass: Message, withFirst: boolean): Promise<readonly Reply[]> {
    beforePass();
    const wanted = withFirst ? members : members.slice(1);
    const outcomes = await Promise.allSettled(wanted.map(member => runOn(member, pass)));
    return outcomes.map(outcome => {
      if (outcome.status === 'rejected') throw outcome.reason;
      return outcome.value;
    });
  }

  return {
    threads,
    get isIdle() {
      return turn === null;
    },
    run(pass, withFirst = true) {
      const result = turn ? turn.then(() => runOnAll(pass, withFirst)) : runOnAll(pass, withFirst);
      const over = (): void => {
        if (turn === own) turn = null;
      };
      const own = result.then(over, over);
      turn = own;
      return result;
    },
    tell: (n, region) => members[n].worker.post(region),
    terminate() {
      // A web worker that is terminated never answers, and does not report its end.
      fail('the workers were terminated');
      for (const { worker } of members) worker.terminate();
    },
  };
}

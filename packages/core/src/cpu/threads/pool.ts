import { type HostWorker, startWorker } from './host-threads.ts';
import type { Message, Reply, SetUp } from './message.ts';

/** Workers that run passes, all of them on one pass at a time. */
export interface Pool {
  readonly threads: number;
  /**
   * Resolves when every worker has run out of tasks; rejects when one has failed, and then the pool is of no more use. `told` runs as soon
   * as all of them know of the pass, so that it takes its time while they wake.
   */
  run(pass: Exclude<Message, SetUp>, told?: () => void): Promise<readonly Reply[]>;
  /** Ends the workers; passes that wait reject. */
  terminate(): void;
}

interface Member {
  readonly worker: HostWorker;
  answer: ((reply: Reply) => void) | null;
}

/** Starts `threads` workers. They keep a process alive only while a pass runs. */
export function createPool(threads: number, source: string, setUp: SetUp): Pool {
  let failure: string | null = null;
  let turn: Promise<unknown> = Promise.resolve();
  const members: Member[] = [];
  for (let n = 0; n < threads; n++) members.push(startMember());

  /** The first reason is the cause of the others. */
  function fail(reason: string): void {
    failure ??= reason;
    for (const { answer } of members) answer?.({ error: failure });
  }

  function startMember(): Member {
    const member: { worker: HostWorker; answer: Member['answer'] } = {
      worker: startWorker(source, {
        onReply: reply => member.answer?.(reply),
        onFailure: fail,
      }),
      answer: null,
    };
    member.worker.post(setUp);
    return member;
  }

  async function runOn(member: Member, pass: Message): Promise<Reply> {
    if (failure !== null) throw new Error(failure);
    member.worker.keepAlive(true);
    try {
      const reply = await new Promise<Reply>(resolve => {
        member.answer = resolve;
        member.worker.post(pass);
      });
      if (reply.error !== undefined) throw new Error(reply.error);
      return reply;
    } finally {
      member.answer = null;
      member.worker.keepAlive(false);
    }
  }

  return {
    threads,
    run(pass, told) {
      const result = turn.then(async () => {
        const replies = members.map(member => runOn(member, pass));
        told?.();
        const outcomes = await Promise.allSettled(replies);
        return outcomes.map(outcome => {
          if (outcome.status === 'rejected') throw outcome.reason;
          return outcome.value;
        });
      });
      turn = result.catch(() => {});
      return result;
    },
    terminate() {
      // A web worker that is ended never answers, and says nothing of its end.
      fail('the workers have been ended');
      for (const { worker } of members) worker.terminate();
    },
  };
}

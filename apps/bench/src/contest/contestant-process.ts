import { type ChildProcess, fork } from 'node:child_process';
import type { ContestantOptions, ContestantService } from './contestant-service.ts';

type Question = keyof ContestantService;

interface Asked {
  readonly question: Question;
  readonly given: readonly unknown[];
}

type Answer = { readonly value: unknown } | { readonly failure: string };

/** The word that makes the program a contestant's process instead. */
const word = 'contestant';

export interface ContestantProcessOptions extends ContestantOptions {
  /** How long an answer may take, in seconds. Compiling one kernel takes a software adapter a minute. */
  readonly patience: number;
  /** The program to start, default this one. */
  readonly program?: string;
}

/**
 * A contestant in a process of its own, with a device of its own: what hangs or dies there is ended and reported, and the others go
 * on. Answers come in the order of the questions, which are asked one at a time.
 */
export class ContestantProcess {
  readonly #options: ContestantProcessOptions;
  #child: ChildProcess | undefined;
  /** The end of what it has said, for when it dies. */
  #said = '';

  constructor(options: ContestantProcessOptions) {
    this.#options = options;
  }

  /** Whether it runs: it does not before the start, nor after it has died. */
  get running(): boolean {
    return this.#child !== undefined;
  }

  start(): void {
    const { program = process.argv[1], name, folder, device } = this.#options;
    const child = fork(program, [word, JSON.stringify({ name, folder, device })], {
      serialization: 'advanced',
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    this.#said = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (text: Buffer) => {
        this.#said = (this.#said + text).slice(-2000);
      });
    }
    child.on('close', () => this.#forget(child));
    this.#child = child;
  }

  /** @throws Error saying why there is no answer: an error there, none in time, or the end of the process. */
  async ask<Q extends Question>(
    question: Q,
    ...given: Parameters<ContestantService[Q]>
  ): Promise<Awaited<ReturnType<ContestantService[Q]>>> {
    const child = this.#child;
    if (!child) throw new Error('its process has ended');
    signal(child, 'SIGCONT');
    const answer = await this.#answer(child, { question, given });
    signal(child, 'SIGSTOP');
    if ('failure' in answer) throw new Error(answer.failure);
    return answer.value as Awaited<ReturnType<ContestantService[Q]>>;
  }

  /** Ends the process, whatever it does. */
  end(): void {
    this.#child?.kill('SIGKILL');
    this.#child = undefined;
  }

  #forget(child: ChildProcess): void {
    if (this.#child === child) this.#child = undefined;
  }

  #answer(child: ChildProcess, asked: Asked): Promise<Answer> {
    const { patience } = this.#options;
    return new Promise(resolve => {
      const settle = (answer: Answer): void => {
        clearTimeout(timer);
        child.off('message', settle);
        child.off('close', died);
        resolve(answer);
      };
      const died = (code: number | null, signal: string | null): void => {
        const last = this.#said.trim().split('\n').at(-1) ?? '';
        settle({ failure: `its process ended with ${signal ?? code}${last && `: ${last.slice(0, 100)}`}` });
      };
      const timer = setTimeout(() => {
        settle({ failure: `no answer within ${patience} s` });
        this.end();
      }, 1000 * patience);
      child.on('message', settle);
      child.on('close', died);
      child.send(asked, error => {
        if (error) settle({ failure: error.message });
      });
    });
  }
}

/**
 * A process stands still while others have their turn: onnxruntime-web's has two threads that compile WebAssembly for minutes. Windows
 * cannot do that.
 */
function signal(child: ChildProcess, name: 'SIGCONT' | 'SIGSTOP'): void {
  if (process.platform !== 'win32') child.kill(name);
}

/** What the program was told, where it is a contestant's process; else undefined. */
export function contestantOptions(args: readonly string[]): ContestantOptions | undefined {
  const [first, options] = args;
  if (first !== word || options === undefined || !process.send) return undefined;
  return JSON.parse(options) as ContestantOptions;
}

/** Answers questions until the program that asks is gone. */
export function serve(service: ContestantService): void {
  process.on('message', async ({ question, given }: Asked) => {
    const method = service[question] as (...args: readonly unknown[]) => Promise<unknown>;
    const answer = await method(...given).then(
      (value): Answer => ({ value }),
      // Some errors have no message, and a name.
      (error: unknown): Answer => ({ failure: (error instanceof Error && error.message) || String(error) }),
    );
    process.send?.(answer);
  });
  process.on('disconnect', () => process.exit());
}

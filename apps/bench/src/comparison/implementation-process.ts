import { type ChildProcess, fork } from 'node:child_process';
import type { ImplementationOptions, ImplementationService } from './implementation-service.ts';

type Question = keyof ImplementationService;

interface Asked {
  readonly question: Question;
  readonly given: readonly unknown[];
}

type Answer = { readonly value: unknown } | { readonly failure: string };

/** The first argument of the program when it runs as the process of an implementation. */
const word = 'implementation';

export interface ImplementationProcessOptions extends ImplementationOptions {
  /** How long an answer may take, in seconds. A software adapter needs a minute to compile one kernel. */
  readonly timeout: number;
  /** The program to start, default this one. */
  readonly program?: string;
}

/**
 * The process of one implementation, which opens its own device. A process that hangs or dies is ended and
 * reported, and the other implementations go on. Questions are asked one at a time.
 */
export class ImplementationProcess {
  readonly #options: ImplementationProcessOptions;
  #child: ChildProcess | undefined;
  /** The end of the output of the process, for the report of its death. */
  #said = '';

  constructor(options: ImplementationProcessOptions) {
    this.#options = options;
  }

  /** Whether the process runs: false before `start` and after its death. */
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

  /** @throws Error when the process answers with an error, does not answer in time, or ends. */
  async ask<Q extends Question>(
    question: Q,
    ...given: Parameters<ImplementationService[Q]>
  ): Promise<Awaited<ReturnType<ImplementationService[Q]>>> {
    const child = this.#child;
    if (!child) throw new Error('its process has ended');
    signal(child, 'SIGCONT');
    const answer = await this.#answer(child, { question, given });
    signal(child, 'SIGSTOP');
    if ('failure' in answer) throw new Error(answer.failure);
    return answer.value as Awaited<ReturnType<ImplementationService[Q]>>;
  }

  /** Kills the process. */
  end(): void {
    this.#child?.kill('SIGKILL');
    this.#child = undefined;
  }

  #forget(child: ChildProcess): void {
    if (this.#child === child) this.#child = undefined;
  }

  #answer(child: ChildProcess, asked: Asked): Promise<Answer> {
    const { timeout } = this.#options;
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
        settle({ failure: `no answer within ${timeout} s` });
        this.end();
      }, 1000 * timeout);
      child.on('message', settle);
      child.on('close', died);
      child.send(asked, error => {
        if (error) settle({ failure: error.message });
      });
    });
  }
}

/**
 * Stops a process while other implementations have their turn, because onnxruntime-web has two threads that
 * compile WebAssembly for minutes. Windows cannot stop a process.
 */
function signal(child: ChildProcess, name: 'SIGCONT' | 'SIGSTOP'): void {
  if (process.platform !== 'win32') child.kill(name);
}

/** The options of the implementation, if the program was started as the process of one. */
export function implementationOptions(args: readonly string[]): ImplementationOptions | undefined {
  const [first, options] = args;
  if (first !== word || options === undefined || !process.send) return undefined;
  return JSON.parse(options) as ImplementationOptions;
}

/** Answers questions until the parent process ends. */
export function serve(service: ImplementationService): void {
  process.on('message', async ({ question, given }: Asked) => {
    const method = service[question] as (...args: readonly unknown[]) => Promise<unknown>;
    const answer = await method(...given).then(
      (value): Answer => ({ value }),
      // Some errors have only a name and no message.
      (error: unknown): Answer => ({ failure: (error instanceof Error && error.message) || String(error) }),
    );
    process.send?.(answer);
  });
  process.on('disconnect', () => process.exit());
}

import { InvalidArgumentError } from '../errors.ts';
import { runBackward } from './attention/backward/backward-pass.ts';
import { runForward } from './attention/forward/forward-pass.ts';
import type { PassContext } from './attention/pass-context.ts';
import type { Claim } from './attention/tasks.ts';
import type { Kernels } from './kernels/interface/kernels.ts';
import { MEMORY_KEPT } from './kernels/memory/memory.ts';
import { typescriptKernels } from './kernels/typescript/typescript-kernels.ts';
import { withOperations } from './kernels/wasm/operation-kernels.ts';
import { wasmKernels } from './kernels/wasm/wasm-kernels.ts';
import { joinTeam } from './team/join-team.ts';
import type { Amax } from './threads/amax.ts';
import {
  type BackwardPass,
  type ForwardPass,
  type Message,
  type Reply,
  receiveProblem,
  type SetUp,
} from './threads/message.ts';
import { awaitPart } from './threads/shared/arrivals.ts';
import { receive } from './threads/shared/shared-tensors.ts';

/** The worker's end of its channel: Node's `parentPort`, or the global object of a web worker. */
interface Port {
  postMessage(reply: Reply): void;
  on?(event: 'message', listener: (message: Message) => void): void;
  onmessage?: (event: { readonly data: Message }) => void;
}

interface WorkerGlobal extends Port {
  readonly process?: {
    readonly getBuiltinModule?: (name: string) => { readonly parentPort: Port };
  };
}

const global = globalThis as unknown as WorkerGlobal;
const port = global.process?.getBuiltinModule?.('node:worker_threads').parentPort ?? global;
let setUp: SetUp | null = null;
let kernels: Kernels | null = null;

function handle(message: Message): void {
  if (message.kind === 'set-up') {
    setUp = message;
    return;
  }
  if (message.kind === 'region') {
    joinTeam(message);
    return;
  }
  try {
    port.postMessage({ amax: run(message) });
  } catch (error) {
    const isOfCall = error instanceof InvalidArgumentError;
    port.postMessage({ error: error instanceof Error ? error.message : String(error), isOfCall });
  }
}

/** Runs the worker's share of a pass; returns the largest magnitudes of the values that it computed. */
function run(pass: ForwardPass | BackwardPass): Amax {
  kernels ??= createKernels();
  const { claimed, arrivals, tiles, threads } = pass;
  awaitPart(arrivals, 0);
  const claim = (): number => Atomics.add(claimed, 0, 1);
  const awaitHeads = (group: number): void => awaitPart(arrivals, group);
  const context = { kernels, tiles, threads, awaitHeads };
  const amax =
    pass.kind === 'forward' ? runForwardPass(pass, context, claim) : runBackwardPass(pass, context, claim);
  if (kernels.memory.bytes > MEMORY_KEPT) kernels = null;
  return amax;
}

function runForwardPass(
  { problem, operands, results }: ForwardPass,
  context: PassContext,
  claim: Claim,
): Amax {
  return runForward(receiveProblem(problem), receive(operands), context, receive(results), claim);
}

function runBackwardPass(
  { problem, operands, results }: BackwardPass,
  context: PassContext,
  claim: Claim,
): Amax {
  const received = { ...problem, forward: receiveProblem(problem.forward) };
  return runBackward(received, receive(operands), context, receive(results), claim).amax;
}

function createKernels(): Kernels {
  if (!setUp) throw new Error('a worker was not set up');
  const { variant, module } = setUp;
  return module ? withOperations(wasmKernels(variant, module)) : typescriptKernels();
}

if (port.on) port.on('message', handle);
else port.onmessage = ({ data }) => handle(data);

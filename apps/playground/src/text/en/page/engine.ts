import type { RunsOn } from '../../../engine/engine.ts';
import type { Instead } from '../../../engine/tensor-engine.ts';
import type { Sentences } from '../../say.ts';

/** The names of engines. */
export const engine = {
  looking: 'Looking for a GPU…',
  runsOn: {
    webgpu: ({ description }) => `Computed on the GPU (${description}).`,
    'no-webgpu': () => 'Computed on the CPU: this browser has no WebGPU.',
    'gpu-failed': ({ reason }) => `Computed on the CPU: ${reason}`,
  } satisfies Sentences<RunsOn> as Sentences<RunsOn>,
  label: 'Engine',
  choices: { auto: 'GPU if there is one', webgpu: 'WebGPU', cpu: 'CPU' },
  ranOn: {
    webgpu: (engine: string): string => `Computed on the GPU (${engine}).`,
    cpu: (engine: string): string => `Computed on the CPU (${engine}).`,
  },
  instead: {
    software: ({ adapter }) =>
      `There is WebGPU, but its adapter (${adapter}) is a CPU that emulates a GPU; the CPU engine is faster.`,
    error: ({ message }) => `No GPU could be used: ${message}`,
  } satisfies Sentences<Instead> as Sentences<Instead>,
};

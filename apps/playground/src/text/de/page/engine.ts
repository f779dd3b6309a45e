import type { Text } from '../../text.ts';

export const engine: Text['engine'] = {
  looking: 'Sucht eine GPU …',
  runsOn: {
    webgpu: ({ description }) => `Auf der GPU berechnet (${description}).`,
    'no-webgpu': () => 'Auf der CPU berechnet: Dieser Browser hat kein WebGPU.',
    'gpu-failed': ({ reason }) => `Auf der CPU berechnet: ${reason}`,
  },
  label: 'Rechenwerk',
  choices: { auto: 'GPU, wenn es eine gibt', webgpu: 'WebGPU', cpu: 'CPU' },
  ranOn: {
    webgpu: engine => `Auf der GPU gerechnet (${engine}).`,
    cpu: engine => `Auf der CPU gerechnet (${engine}).`,
  },
  instead: {
    software: ({ adapter }) =>
      `Es gibt WebGPU, aber der Adapter (${adapter}) ist eine CPU, die eine GPU spielt; das CPU-Rechenwerk ist schneller.`,
    error: ({ message }) => `Keine GPU war zu gebrauchen: ${message}`,
  },
};

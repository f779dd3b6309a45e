import type { Text } from '../../text.ts';

export const engine: Text['engine'] = {
  looking: 'Eine GPU wird gesucht …',
  runsOn: {
    webgpu: ({ description }) => `Auf der GPU berechnet (${description}).`,
    'no-webgpu': () => 'Auf der CPU berechnet: Dieser Browser hat kein WebGPU.',
    'gpu-failed': ({ reason }) => `Auf der CPU berechnet: ${reason}`,
  },
  label: 'Engine',
  choices: { auto: 'GPU, falls vorhanden', webgpu: 'WebGPU', cpu: 'CPU' },
  ranOn: {
    webgpu: engine => `Auf der GPU berechnet (${engine}).`,
    cpu: engine => `Auf der CPU berechnet (${engine}).`,
  },
  instead: {
    software: ({ adapter }) =>
      `Es gibt WebGPU, aber der Adapter (${adapter}) ist eine CPU, die eine GPU emuliert; die CPU-Engine ist schneller.`,
    error: ({ message }) => `Es ließ sich keine GPU verwenden: ${message}`,
  },
};

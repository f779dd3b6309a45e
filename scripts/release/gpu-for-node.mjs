// Gives Node the `navigator.gpu` that a browser has, on this machine's GPU or on a software adapter.
import { openGpu } from '../../tools/webgpu-host/dist/index.js';

const { gpu } = await openGpu();
Object.defineProperty(globalThis, 'navigator', { value: { gpu, userAgent: 'node' }, configurable: true });

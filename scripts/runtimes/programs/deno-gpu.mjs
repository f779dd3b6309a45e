import { smokeGpu } from './smoke.mjs';

const adapter = await navigator.gpu?.requestAdapter();
console.log(adapter ? await smokeGpu() : 'not run: no adapter on this machine');

export { cpuEngine } from './engine.ts';
export { sdpa, sdpaBackward } from './sdpa.ts';

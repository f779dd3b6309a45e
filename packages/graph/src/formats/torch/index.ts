export type { Role } from './axes.ts';
export type { TorchOptions } from './options.ts';
export { toTorch } from './to-torch.ts';

export type { Role } from '../python/axes.ts';
export type { TorchOptions } from './options.ts';
export { toTorch } from './to-torch.ts';

export type { Role } from '../python/tensors/axes.ts';
export type { TorchOptions, TrainingOptionName } from './options.ts';
export { toTorch } from './to-torch.ts';

export type { ExportTorchOptions } from './export-torch.ts';
export { exportTorch } from './export-torch.ts';

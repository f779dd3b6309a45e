export { type ExportTorchOptions, exportTorch } from './export-torch.ts';

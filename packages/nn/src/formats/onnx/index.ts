export type { LoadOnnxOptions } from './load-onnx-model.ts';
export { loadOnnxModel } from './load-onnx-model.ts';

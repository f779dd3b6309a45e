export { type LoadOnnxOptions, loadOnnxModel } from './load-onnx-model.ts';
